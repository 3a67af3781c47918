//! Statements about what a connection keeps beside its session: cursors and prepared statements. Whoever
//! serves the connection carries them out.

mod cursors;
mod execute;

pub use cursors::{Declare, Direction, Fetch};
pub use execute::Execute;

use super::{Body, Statement};
use crate::parser::names::fold;
use crate::values::error::{Error, Result, SqlState};
use crate::values::types;
pub(crate) use cursors::{CursorStatement, parse};
use datafusion::sql::sqlparser::ast::{CloseCursor, DiscardObject, Statement as Ast};
use store::catalog::SqlType;

/// What a statement asks of the connection.
#[derive(Debug, Clone)]
pub enum ConnectionStatement {
    /// DECLARE: a cursor over a query.
    Declare(Box<Declare>),
    /// FETCH and MOVE: rows of a cursor.
    Fetch(Fetch),
    /// CLOSE: a cursor, or all.
    Close(Option<String>),
    /// PREPARE: a statement under a name.
    Prepare {
        /// The name.
        name: String,
        /// The parameter types that it says.
        types: Vec<Option<SqlType>>,
        /// The statement.
        statement: Box<Statement>,
    },
    /// EXECUTE of a prepared statement, or EXPLAIN of that.
    Execute(Box<Execute>),
    /// DEALLOCATE: a prepared statement, or all.
    Deallocate(Option<String>),
    /// DISCARD ALL.
    DiscardAll,
    /// DISCARD of what there is none of.
    DiscardNothing(&'static str),
    /// UNLISTEN: nobody listens.
    Unlisten,
}

impl Statement {
    /// What the statement asks of the connection, if it does.
    ///
    /// # Errors
    /// 0A000 for what no connection does; 42601 and 42704 for a PREPARE that cannot be.
    pub fn for_connection(&self) -> Option<Result<ConnectionStatement>> {
        let ast = match self.body() {
            Body::Sql(ast) => ast,
            Body::Cursor(CursorStatement::Declare(declare)) => {
                return Some(Ok(ConnectionStatement::Declare(Box::new(declare.of(self)))));
            }
            Body::Cursor(CursorStatement::Fetch(fetch)) => {
                return Some(Ok(ConnectionStatement::Fetch(fetch.clone())));
            }
            Body::ClientCopy(_) | Body::Role(_) | Body::AlterSystem(_) => return None,
        };
        Some(Ok(match ast {
            Ast::Close { cursor: CloseCursor::All } => ConnectionStatement::Close(None),
            Ast::Close { cursor: CloseCursor::Specific { name } } => {
                ConnectionStatement::Close(Some(fold(name)))
            }
            Ast::Prepare { name, data_types, statement } => {
                if !is_preparable(statement) {
                    return Some(Err(not_preparable(statement)));
                }
                let types = data_types.iter().map(|ast| types::of_parameter(ast).map(Some));
                let types = match types.collect() {
                    Ok(types) => types,
                    Err(error) => return Some(Err(error)),
                };
                let statement = Box::new(self.with_ast(Ast::clone(statement)));
                ConnectionStatement::Prepare { name: fold(name), types, statement }
            }
            Ast::Execute { .. } | Ast::Explain { .. } => {
                return Execute::of(self)
                    .map(|execute| Ok(ConnectionStatement::Execute(Box::new(execute))));
            }
            Ast::Deallocate { name, .. } => {
                let all = name.quote_style.is_none() && name.value.eq_ignore_ascii_case("all");
                ConnectionStatement::Deallocate((!all).then(|| fold(name)))
            }
            Ast::Discard { object_type: DiscardObject::ALL } => ConnectionStatement::DiscardAll,
            Ast::Discard { object_type: DiscardObject::PLANS } => {
                ConnectionStatement::DiscardNothing("DISCARD PLANS")
            }
            Ast::Discard { object_type: DiscardObject::SEQUENCES } => {
                ConnectionStatement::DiscardNothing("DISCARD SEQUENCES")
            }
            Ast::UNLISTEN { .. } => ConnectionStatement::Unlisten,
            Ast::LISTEN { .. } => return Some(Err(Error::unsupported("LISTEN is not supported"))),
            Ast::NOTIFY { .. } => return Some(Err(Error::unsupported("NOTIFY is not supported"))),
            _ => return None,
        }))
    }
}

/// Whether PREPARE takes a statement.
fn is_preparable(statement: &Ast) -> bool {
    matches!(statement, Ast::Query(_) | Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_))
}

fn not_preparable(statement: &Ast) -> Error {
    let text = statement.to_string();
    let word = text.split_whitespace().next().unwrap_or_default();
    Error::new(SqlState::SyntaxError, format!("syntax error at or near \"{word}\""))
        .with_hint("PREPARE takes SELECT, VALUES, INSERT, UPDATE and DELETE.")
}
