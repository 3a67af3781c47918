//! Cursors. A variable holds the name of one; which cursors are open is the host's.

use super::host::{CursorQuery, Host, Move};
use super::scope::{Content, Slot};
use super::{Flow, Machine};
use crate::tree::{
    Argument, BoundCursor, Count, Direction, Fetch, ForCursor, Open, Opened, Rows, Sql, Target,
    TypeName,
};
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The type of the variables of cursors.
const REFCURSOR: &str = "refcursor";

impl<H: Host> Machine<'_, H> {
    /// Declares a cursor with a query. The variable holds its own name, which the cursor will have.
    pub(super) async fn declare_cursor(&mut self, name: String, bound: &BoundCursor) -> Result<()> {
        let value = self.host.of_text(Some(name.clone()));
        let value = self.host.convert(value, REFCURSOR).await?;
        let content = Content::Value { of: REFCURSOR.into(), value };
        let bound = Some(Arc::new(bound.clone()));
        self.scopes.declare(Slot { bound, ..Slot::new(name, content) });
        Ok(())
    }

    /// The name of the cursor that a variable holds; `None` for NULL.
    fn name_of(&mut self, target: &Target) -> Result<Option<String>> {
        let shown = target.parts.join(".");
        let (slot, _) = self.scopes.slot(target)?;
        let Content::Value { of, value } = &slot.content else {
            let message = "cursor variable must be a simple variable";
            return Err(Error::new(SqlState::DatatypeMismatch, message));
        };
        if **of != *REFCURSOR {
            let message = format!("variable \"{shown}\" must be of type cursor or refcursor");
            return Err(Error::new(SqlState::DatatypeMismatch, message));
        }
        Ok(self.host.text(value))
    }

    /// The name of the cursor that a variable holds.
    fn known_name(&mut self, target: &Target) -> Result<String> {
        self.name_of(target)?.ok_or_else(|| {
            let message = format!("cursor variable \"{}\" is null", target.parts.join("."));
            Error::new(SqlState::NullValueNotAllowed, message)
        })
    }

    /// OPEN.
    pub(super) async fn open(&mut self, open: &Open) -> Result<()> {
        let name = self.unused(&open.cursor)?;
        let had_name = name.is_some();
        let opened = match &open.of {
            Opened::Bound(arguments) => self.open_bound(name, &open.cursor, arguments).await?,
            Opened::Rows(_) if self.scopes.slot(&open.cursor)?.0.bound.is_some() => {
                let message = "syntax error at or near \"for\"";
                return Err(Error::new(SqlState::SyntaxError, message));
            }
            Opened::Rows(rows) => match rows {
                Rows::Query(sql) => {
                    let variables = self.scopes.variables(sql);
                    let query = CursorQuery::Written(sql, &variables);
                    self.host.open_cursor(name, open.scrolls, query).await?
                }
                Rows::Dynamic(text, values) => {
                    let (text, values) = self.dynamic(text, values).await?;
                    let query = CursorQuery::Text(&text, &values);
                    self.host.open_cursor(name, open.scrolls, query).await?
                }
            },
        };
        if had_name {
            return Ok(());
        }
        let value = self.host.of_text(Some(opened));
        self.assign(&open.cursor, value).await
    }

    /// The name of a cursor that is to be opened.
    fn unused(&mut self, target: &Target) -> Result<Option<String>> {
        let name = self.name_of(target)?;
        match name {
            Some(name) if self.host.is_open(&name) => {
                let message = format!("cursor \"{name}\" already in use");
                Err(Error::new(SqlState::DuplicateCursor, message))
            }
            name => Ok(name),
        }
    }

    /// Opens the cursor of a variable for the query of its declaration.
    async fn open_bound(
        &mut self,
        name: Option<String>,
        target: &Target,
        arguments: &[Argument],
    ) -> Result<String> {
        let (slot, _) = self.scopes.slot(target)?;
        let (own_name, bound) = (slot.name.to_string(), slot.bound.clone());
        let Some(bound) = bound else {
            let message = "syntax error, expected \"FOR\" at or near \";\"";
            return Err(Error::new(SqlState::SyntaxError, message));
        };
        let values = self.arguments(target, &bound, arguments).await?;
        if !arguments.is_empty() {
            // PostgreSQL assigns them as a query does.
            self.row_count = 1;
            self.found(true)?;
        }
        // The query means the variables before the declaration, wherever the cursor is opened.
        let place = self.scopes.place_of(&target.parts).unwrap_or_default();
        let left = self.scopes.leave_from(place);
        self.scopes.open(Some(own_name));
        for ((name, _), (of, value)) in bound.parameters.iter().zip(values) {
            let content = Content::Value { of: of.into(), value };
            self.scopes.declare(Slot::new(name.clone(), content));
        }
        let variables = self.scopes.variables(&bound.query);
        self.scopes.come_back(place.0, left);
        let query = CursorQuery::Written(&bound.query, &variables);
        self.host.open_cursor(name, bound.scrolls, query).await
    }

    /// The types and values of the parameters of a cursor.
    async fn arguments(
        &mut self,
        target: &Target,
        bound: &BoundCursor,
        arguments: &[Argument],
    ) -> Result<Vec<(String, H::Value)>> {
        let given = bound.given(&target.parts.join("."), arguments)?;
        let mut values = Vec::with_capacity(given.len());
        for ((_, of), value) in bound.parameters.iter().zip(given) {
            let of = match of {
                TypeName::Plain(of) => of.clone(),
                TypeName::TypeOf(parts) => self.type_of(parts).await?,
                TypeName::RowOf(_) | TypeName::Record => {
                    let message = "a row as a parameter of a cursor is not supported";
                    return Err(Error::unsupported(message));
                }
            };
            let value = self.value(value, Some(&of)).await?;
            values.push((of, value));
        }
        Ok(values)
    }

    /// FETCH and MOVE.
    pub(super) async fn fetch(&mut self, fetch: &Fetch) -> Result<()> {
        let name = self.known_name(&fetch.cursor)?;
        let to = match &fetch.direction {
            Direction::Forward(count) => self.counted(count).await?,
            Direction::Backward(count) => match self.counted(count).await? {
                Move::Forward(count) => Move::Backward(count),
                Move::Backward(count) => Move::Forward(count),
                other => other,
            },
            Direction::First => Move::Absolute(1),
            Direction::Last => Move::Absolute(-1),
            Direction::Absolute(place) => Move::Absolute(self.place(place).await?),
            Direction::Relative(place) => Move::Relative(self.place(place).await?),
        };
        let mut answer = self.host.fetch(&name, to, fetch.moves)?;
        if !fetch.moves {
            self.assign_first(&fetch.into, &mut answer).await?;
        }
        self.row_count = answer.count;
        self.found(answer.count > 0)
    }

    /// Forward over a number of rows. A negative one goes back, and 0 stays.
    async fn counted(&mut self, count: &Count) -> Result<Move> {
        Ok(match count {
            Count::One => Move::Forward(Some(1)),
            Count::All => Move::Forward(None),
            Count::Of(count) => match self.place(count).await? {
                0 => Move::Relative(0),
                count @ 1.. => Move::Forward(Some(count.unsigned_abs())),
                count => Move::Backward(Some(count.unsigned_abs())),
            },
        })
    }

    async fn place(&mut self, sql: &Sql) -> Result<i64> {
        let value = self.value(sql, Some("integer")).await?;
        self.host.number(&value).ok_or_else(|| {
            let message = "relative or absolute cursor position is null";
            Error::new(SqlState::NullValueNotAllowed, message)
        })
    }

    /// CLOSE.
    pub(super) async fn close(&mut self, cursor: &Target) -> Result<()> {
        let name = self.known_name(cursor)?;
        self.host.close_cursor(&name)
    }

    /// FOR over the rows of a cursor, which is open meanwhile.
    pub(super) async fn for_cursor(&mut self, looped: &ForCursor) -> Result<Flow<H::Value>> {
        let name = self.unused(&looped.cursor)?;
        let had_name = name.is_some();
        let Some(bound) = self.scopes.slot(&looped.cursor)?.0.bound.clone() else {
            let message = "cursor FOR loop must use a bound cursor variable";
            return Err(Error::new(SqlState::SyntaxError, message));
        };
        let name = self.open_bound(name, &looped.cursor, &looped.arguments).await?;
        if !had_name {
            let value = self.host.of_text(Some(name.clone()));
            self.assign(&looped.cursor, value).await?;
        }
        let depth = self.scopes.depth();
        self.scopes.open(looped.label.clone());
        self.scopes.declare(Slot::new(looped.variable.clone(), Content::Record(None)));
        let only_reads = self.host.only_reads(&bound.query);
        self.host.begin_loop(&bound.query.text, only_reads)?;
        let flow = self.each_of(looped, &name).await;
        self.host.end_loop();
        self.scopes.close_to(depth);
        // COMMIT in the loop has closed it.
        if self.host.is_open(&name) {
            self.host.close_cursor(&name)?;
        }
        if !had_name {
            let null = self.host.null(REFCURSOR)?;
            self.set(&looped.cursor, null)?;
        }
        flow
    }

    async fn each_of(&mut self, looped: &ForCursor, name: &str) -> Result<Flow<H::Value>> {
        let answer = self.host.fetch(name, Move::Forward(None), false)?;
        let target = Target { parts: vec![looped.variable.clone()] };
        let of = (looped.label.as_ref(), Some(name));
        self.each(of, &[target], answer, &looped.body).await
    }

    /// The text of EXECUTE and the values of its USING.
    pub(super) async fn dynamic(
        &mut self,
        text: &Sql,
        values: &[Sql],
    ) -> Result<(String, Vec<H::Value>)> {
        let Some(text) = self.text_of(text).await? else {
            let message = "query string argument of EXECUTE is null";
            return Err(Error::new(SqlState::NullValueNotAllowed, message));
        };
        let mut given = Vec::with_capacity(values.len());
        for value in values {
            given.push(match self.typed_row(&value.text).await {
                Some(row) => row,
                None => self.value(value, None).await?,
            });
        }
        Ok((text, given))
    }
}
