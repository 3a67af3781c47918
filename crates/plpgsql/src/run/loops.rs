//! Loops.

use super::host::{Answer, CursorQuery, Host};
use super::scope::{Content, Slot};
use super::turns::{Next, Turn, Turns};
use super::{Flow, Machine};
use crate::tree::{ForRange, Foreach, Rows, Sql, Statement, Target};
use values::error::{Error, Result, SqlState};

/// LOOP, or WHILE with a condition.
struct While<'a>(Option<&'a Sql>);

impl<'a, H: Host> Turns<'a, H> for While<'a> {
    fn next(&mut self, machine: &mut Machine<'_, H>) -> Result<Next<'a>> {
        let Some(condition) = self.0 else { return Ok(Next::Begun) };
        Ok(match machine.quick_truth(condition).transpose()? {
            Some(true) => Next::Begun,
            Some(false) => Next::None,
            None => Next::If(condition),
        })
    }
}

/// The numbers of a loop.
struct Numbers {
    /// The next number.
    next: Option<i64>,
    /// The last number, at most.
    to: i64,
    /// The step, negative if the loop goes down.
    by: i64,
    /// The blocks up to that of the loop's variable.
    inside: usize,
    /// Whether there was one.
    any: bool,
}

impl<'a, H: Host> Turns<'a, H> for Numbers {
    fn next(&mut self, machine: &mut Machine<'_, H>) -> Result<Next<'a>> {
        let is_within = |at: &i64| if self.by < 0 { *at >= self.to } else { *at <= self.to };
        let Some(at) = self.next.take().filter(is_within) else { return Ok(Next::None) };
        machine.scopes.close_to(self.inside);
        machine.put_first(self.inside, at);
        // The loop ends at the last number of its type.
        let next = at + self.by;
        self.next = i32::try_from(next).is_ok().then_some(next);
        self.any = true;
        Ok(Next::Begun)
    }
}

impl<H: Host> Machine<'_, H> {
    /// LOOP and WHILE.
    pub(super) async fn endless(
        &mut self,
        label: Option<&String>,
        condition: Option<&Sql>,
        body: &[Statement],
    ) -> Result<Flow<H::Value>> {
        self.repeat(label, body, &mut While(condition)).await
    }

    /// Gives the variable of a loop over numbers, the first of a block, a number.
    fn put_first(&mut self, depth: usize, number: i64) {
        let Some(value) = self.scopes.first_mut(depth) else { return };
        let integer = i32::try_from(number);
        if !integer.is_ok_and(|number| self.host.put_integer(value, number)) {
            *value = self.host.of_number(number, "integer");
        }
    }

    async fn bound(&mut self, sql: &Sql, what: &str) -> Result<i64> {
        let value = self.value(sql, Some("integer")).await?;
        self.host.number(&value).ok_or_else(|| {
            let message = format!("{what} of FOR loop cannot be null");
            Error::new(SqlState::NullValueNotAllowed, message)
        })
    }

    /// FOR over numbers. The variable is the loop's own.
    pub(super) async fn range(&mut self, range: &ForRange) -> Result<Flow<H::Value>> {
        let at = self.bound(&range.from, "lower bound").await?;
        let to = self.bound(&range.to, "upper bound").await?;
        let by = match &range.by {
            Some(by) => self.bound(by, "BY value").await?,
            None => 1,
        };
        if by <= 0 {
            let message = "BY value of FOR loop must be greater than zero";
            return Err(Error::new(SqlState::InvalidParameterValue, message));
        }
        let depth = self.scopes.depth();
        self.scopes.open(range.label.clone());
        let value = self.host.of_number(at, "integer");
        let content = Content::Value { of: "integer".into(), value };
        let name = range.variable.clone();
        self.scopes.declare(Slot::new(name, content));
        let by = if range.is_reverse { -by } else { by };
        let inside = self.scopes.depth();
        let mut numbers = Numbers { next: Some(at), to, by, inside, any: false };
        let flow = self.repeat(range.label.as_ref(), &range.body, &mut numbers).await?;
        self.scopes.close_to(depth);
        self.found(numbers.any)?;
        Ok(flow)
    }

    /// FOR over rows.
    pub(super) async fn for_rows(
        &mut self,
        label: Option<&String>,
        targets: &[Target],
        rows: &Rows,
        body: &[Statement],
    ) -> Result<Flow<H::Value>> {
        let ((parts, only_reads), query) = match rows {
            Rows::Query(sql) => {
                let read = &*self.with_rows(sql, false)?;
                let variables = self.scopes.variables(read);
                let parts = self.host.parts(CursorQuery::Written(read, &variables)).await?;
                (parts, sql.text.clone())
            }
            Rows::Dynamic(text, values) => {
                let (text, values) = self.dynamic(text, values).await?;
                (self.host.parts(CursorQuery::Text(&text, &values)).await?, text)
            }
        };
        self.host.begin_loop(&query, only_reads)?;
        let flow = self.each_part(label, targets, parts, body).await;
        self.host.end_loop();
        flow
    }

    /// A loop over rows that come in parts.
    async fn each_part(
        &mut self,
        label: Option<&String>,
        targets: &[Target],
        parts: H::Parts,
        body: &[Statement],
    ) -> Result<Flow<H::Value>> {
        let (mut flow, mut any) = (Flow::Next, false);
        for part in parts {
            let part = part?;
            if part.rows.is_empty() {
                self.assign_row(targets, &part, None).await?;
            }
            any |= !part.rows.is_empty();
            if let Some(other) = self.turns((label, None), targets, part, body).await? {
                flow = other;
                break;
            }
        }
        self.found(any)?;
        Ok(flow)
    }

    /// A loop over the rows of an answer, which are those of a cursor.
    pub(super) async fn each(
        &mut self,
        of: (Option<&String>, Option<&str>),
        targets: &[Target],
        answer: Answer<H::Value>,
        body: &[Statement],
    ) -> Result<Flow<H::Value>> {
        let is_empty = answer.rows.is_empty();
        if is_empty {
            self.assign_row(targets, &answer, None).await?;
        }
        let flow = self.turns(of, targets, answer, body).await?;
        self.found(!is_empty)?;
        Ok(flow.unwrap_or(Flow::Next))
    }

    /// The turns of a loop over the rows of an answer. `None` if it goes on behind them.
    async fn turns(
        &mut self,
        (label, cursor): (Option<&String>, Option<&str>),
        targets: &[Target],
        mut answer: Answer<H::Value>,
        body: &[Statement],
    ) -> Result<Option<Flow<H::Value>>> {
        for (number, row) in (1..).zip(std::mem::take(&mut answer.rows)) {
            if let Some(cursor) = cursor {
                self.host.stand_on(cursor, number)?;
            }
            self.assign_row(targets, &answer, Some(row)).await?;
            match self.turn(label, body).await? {
                Turn::Again => {}
                Turn::End => return Ok(Some(Flow::Next)),
                Turn::Leave(other) => return Ok(Some(other)),
            }
        }
        Ok(None)
    }

    /// FOREACH.
    pub(super) async fn foreach(&mut self, looped: &Foreach) -> Result<Flow<H::Value>> {
        let array = self.value(&looped.array, None).await?;
        let Some(items) = self.host.items(&array, looped.slice)? else {
            let message = "FOREACH expression must not be null";
            return Err(Error::new(SqlState::NullValueNotAllowed, message));
        };
        for target in &looped.targets {
            self.check_item_type(target, looped.slice > 0)?;
        }
        let mut flow = Flow::Next;
        let any = !items.is_empty();
        for item in items {
            match looped.targets.as_slice() {
                [target] => self.assign(target, item).await?,
                targets => {
                    let row = self.host.fields(&item);
                    if row.is_none() && !self.host.is_null(&item) {
                        let message = "cannot assign non-composite value to a row variable";
                        return Err(Error::new(SqlState::DatatypeMismatch, message));
                    }
                    let (columns, nulls) = (Vec::new(), Vec::new());
                    let rows = Vec::new();
                    let answer = Answer { columns, rows, nulls, count: 1, has_rows: true };
                    self.assign_row(targets, &answer, row).await?;
                }
            }
            match self.turn(looped.label.as_ref(), &looped.body).await? {
                Turn::Again => {}
                Turn::End => break,
                Turn::Leave(other) => {
                    flow = other;
                    break;
                }
            }
        }
        self.found(any)?;
        Ok(flow)
    }

    /// Refuses a variable of FOREACH that cannot hold the items of an array, or its slices.
    fn check_item_type(&self, target: &Target, has_slices: bool) -> Result<()> {
        let of = self.scopes.plain_type(target);
        let is_array = of.is_some_and(|of| self.host.item_type(of).is_some());
        let message = match (has_slices, is_array) {
            (true, false) => "FOREACH ... SLICE loop variable must be of an array type",
            (false, true) => "FOREACH loop variable must not be of an array type",
            _ => return Ok(()),
        };
        Err(Error::new(SqlState::DatatypeMismatch, message))
    }
}
