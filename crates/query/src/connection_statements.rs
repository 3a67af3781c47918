//! Statements about what a connection keeps beside its session: cursors and prepared statements. Whoever
//! serves the connection carries them out.

use crate::error::{Error, Result, SqlState};
use crate::parse::Statement;
use crate::planner::relations::fold;
use datafusion::sql::sqlparser::ast::{
    CloseCursor, DiscardObject, FetchDirection, Statement as Ast, Value, ValueWithSpan,
};

/// What a statement asks of the connection.
#[derive(Debug, Clone)]
pub enum ConnectionStatement {
    /// DECLARE: a cursor over a query.
    Declare {
        /// The cursor's name.
        name: String,
        /// The query.
        query: Box<Statement>,
        /// Whether values are binary.
        binary: bool,
        /// Whether it lives on after the transaction.
        hold: bool,
    },
    /// FETCH: rows of a cursor; `None` is all of them.
    Fetch {
        /// The cursor's name.
        name: String,
        /// How many rows.
        count: Option<usize>,
    },
    /// MOVE is not understood by the parser; CLOSE is: a cursor, or all.
    Close(Option<String>),
    /// DEALLOCATE: a prepared statement, or all.
    Deallocate(Option<String>),
    /// DISCARD ALL.
    DiscardAll,
    /// DISCARD of what there is none of.
    DiscardNothing,
    /// UNLISTEN: nobody listens.
    Unlisten,
}

impl Statement {
    /// What the statement asks of the connection, if it does.
    ///
    /// # Errors
    /// 0A000 for cursors that go backwards.
    pub fn for_connection(&self) -> Option<Result<ConnectionStatement>> {
        if self.client_copy.is_some() {
            return None;
        }
        match &self.ast {
            Ast::Declare { stmts } => {
                let [declare] = &stmts[..] else { return None };
                let query = declare.for_query.clone()?;
                let name = declare.names.first().map(fold)?;
                if declare.scroll == Some(true) {
                    return Some(Err(backwards()));
                }
                let query = Box::new(self.with_ast(Ast::Query(query)));
                let (binary, hold) = (declare.binary == Some(true), declare.hold == Some(true));
                Some(Ok(ConnectionStatement::Declare { name, query, binary, hold }))
            }
            Ast::Fetch { name, direction, .. } => Some(
                count(direction)
                    .map(|count| ConnectionStatement::Fetch { name: fold(name), count }),
            ),
            Ast::Close { cursor: CloseCursor::All } => Some(Ok(ConnectionStatement::Close(None))),
            Ast::Close { cursor: CloseCursor::Specific { name } } => {
                Some(Ok(ConnectionStatement::Close(Some(fold(name)))))
            }
            Ast::Deallocate { name, .. } => {
                let all = name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all");
                Some(Ok(ConnectionStatement::Deallocate((!all).then(|| fold(name)))))
            }
            Ast::Discard { object_type: DiscardObject::ALL } => {
                Some(Ok(ConnectionStatement::DiscardAll))
            }
            Ast::UNLISTEN { .. } => Some(Ok(ConnectionStatement::Unlisten)),
            Ast::LISTEN { .. } | Ast::NOTIFY { .. } => {
                Some(Err(Error::unsupported("LISTEN and NOTIFY are not supported")))
            }
            Ast::Discard { .. } => Some(Ok(ConnectionStatement::DiscardNothing)),
            _ => None,
        }
    }
}

fn backwards() -> Error {
    Error::unsupported("cursors only move forward").with_hint("DECLARE ... NO SCROLL CURSOR")
}

fn count(direction: &FetchDirection) -> Result<Option<usize>> {
    match direction {
        FetchDirection::Next | FetchDirection::Forward { limit: None } => Ok(Some(1)),
        FetchDirection::All | FetchDirection::ForwardAll => Ok(None),
        FetchDirection::Count { limit } | FetchDirection::Forward { limit: Some(limit) } => {
            number(limit).map(Some)
        }
        _ => Err(backwards()),
    }
}

fn number(value: &ValueWithSpan) -> Result<usize> {
    let number = match &value.value {
        Value::Number(number, _) => number.to_string().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| {
        let message = format!("invalid row count {}", value.value);
        Error::new(SqlState::SyntaxError, message)
    })
}
