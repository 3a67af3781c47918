//! Loops.

use super::host::{Answer, CursorQuery, Host};
use super::quick::Quick;
use super::scope::{Content, Slot};
use super::{Flow, Machine};
use crate::tree::{ForRange, Foreach, Rows, Sql, Statement, Target};
use values::error::{Error, Result, SqlState};

/// Where a turn of a loop leads.
enum Turn<V> {
    Again,
    End,
    Leave(Flow<V>),
}

/// How far turns of a loop came that only compute.
enum Turned<'b, V> {
    /// Behind the loop, or out of it.
    Ended(Flow<V>),
    /// Others are to run before the next turn.
    GivesWay,
    /// Whether there is a next turn has to be evaluated.
    Asks,
    /// To a place in the body.
    At(Quick<'b, V>),
}

/// What begins the turns of a loop.
trait Turns<H: Host> {
    /// Begins the next turn. `false` if there is none, `None` if that has to be evaluated.
    fn next(&mut self, machine: &mut Machine<'_, H>) -> Result<Option<bool>>;
}

/// LOOP, or WHILE with a condition.
struct While<'a>(Option<&'a Sql>);

impl<H: Host> Turns<H> for While<'_> {
    fn next(&mut self, machine: &mut Machine<'_, H>) -> Result<Option<bool>> {
        match self.0 {
            Some(condition) => machine.quick_truth(condition).transpose(),
            None => Ok(Some(true)),
        }
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

impl<H: Host> Turns<H> for Numbers {
    fn next(&mut self, machine: &mut Machine<'_, H>) -> Result<Option<bool>> {
        let is_within = |at: &i64| if self.by < 0 { *at >= self.to } else { *at <= self.to };
        let Some(at) = self.next.take().filter(is_within) else { return Ok(Some(false)) };
        machine.scopes.close_to(self.inside);
        machine.put_first(self.inside, at);
        // The loop ends at the last number of its type.
        let next = at + self.by;
        self.next = i32::try_from(next).is_ok().then_some(next);
        self.any = true;
        Ok(Some(true))
    }
}

/// Where a turn leads whose statements lead somewhere, in a loop with a label.
fn turned<V>(label: Option<&String>, flow: Flow<V>) -> Turn<V> {
    let is_own = |name: &Option<String>| name.is_none() || name.as_ref() == label;
    match flow {
        Flow::Next => Turn::Again,
        Flow::Continue(name) if is_own(&name) => Turn::Again,
        Flow::Exit(name) if is_own(&name) => Turn::End,
        flow => Turn::Leave(flow),
    }
}

impl<H: Host> Machine<'_, H> {
    /// One turn of a loop.
    async fn turn(&mut self, label: Option<&String>, body: &[Statement]) -> Result<Turn<H::Value>> {
        if self.host.turn()? {
            self.host.give_way().await;
        }
        let flow = match self.quickly(body)? {
            Quick::Flow(flow) => flow,
            reached => self.rest(body, reached).await?,
        };
        Ok(turned(label, flow))
    }

    /// Turns of a loop, for as long as they only compute.
    fn turns_quickly<'b>(
        &mut self,
        label: Option<&String>,
        body: &'b [Statement],
        turns: &mut impl Turns<H>,
    ) -> Result<Turned<'b, H::Value>> {
        loop {
            if self.host.turn()? {
                return Ok(Turned::GivesWay);
            }
            match turns.next(self)? {
                Some(true) => {}
                Some(false) => return Ok(Turned::Ended(Flow::Next)),
                None => return Ok(Turned::Asks),
            }
            match self.quickly(body)? {
                Quick::Flow(Flow::Next) => {}
                Quick::Flow(flow) => match turned(label, flow) {
                    Turn::Again => {}
                    Turn::End => return Ok(Turned::Ended(Flow::Next)),
                    Turn::Leave(flow) => return Ok(Turned::Ended(flow)),
                },
                reached => return Ok(Turned::At(reached)),
            }
        }
    }

    /// LOOP and WHILE.
    pub(super) async fn endless(
        &mut self,
        label: Option<&String>,
        condition: Option<&Sql>,
        body: &[Statement],
    ) -> Result<Flow<H::Value>> {
        loop {
            match self.turns_quickly(label, body, &mut While(condition))? {
                Turned::Ended(flow) => return Ok(flow),
                Turned::GivesWay => self.host.give_way().await,
                Turned::Asks => {
                    let Some(condition) = condition else { return Ok(Flow::Next) };
                    if !self.holds(condition).await? {
                        return Ok(Flow::Next);
                    }
                    match self.turn(label, body).await? {
                        Turn::Again => {}
                        Turn::End => return Ok(Flow::Next),
                        Turn::Leave(flow) => return Ok(flow),
                    }
                }
                Turned::At(reached) => match turned(label, self.rest(body, reached).await?) {
                    Turn::Again => {}
                    Turn::End => return Ok(Flow::Next),
                    Turn::Leave(flow) => return Ok(flow),
                },
            }
        }
    }

    /// Gives the variable of a loop over numbers, the first of a block, a number.
    fn put_first(&mut self, depth: usize, number: i64) {
        let Some(value) = self.scopes.first_mut(depth) else { return };
        let number_of_type = i32::try_from(number);
        if !number_of_type.is_ok_and(|number| self.host.put_integer(value, number)) {
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
        let flow = self.over(range.label.as_ref(), &mut numbers, &range.body).await?;
        self.scopes.close_to(depth);
        self.found(numbers.any)?;
        Ok(flow)
    }

    /// The turns of a loop over numbers.
    async fn over(
        &mut self,
        label: Option<&String>,
        numbers: &mut Numbers,
        body: &[Statement],
    ) -> Result<Flow<H::Value>> {
        loop {
            let turn = match self.turns_quickly(label, body, numbers)? {
                Turned::Ended(flow) => return Ok(flow),
                Turned::GivesWay | Turned::Asks => {
                    self.host.give_way().await;
                    Turn::Again
                }
                Turned::At(reached) => turned(label, self.rest(body, reached).await?),
            };
            match turn {
                Turn::Again => {}
                Turn::End => return Ok(Flow::Next),
                Turn::Leave(flow) => return Ok(flow),
            }
        }
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
