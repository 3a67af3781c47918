//! Statements that the server of a connection executes: cursors and prepared statements.

mod declare;
mod execute;

pub use crate::cursors::{Direction, Fetch};
pub use declare::Declare;
pub use execute::Execute;

use crate::cursors::CursorStatement;
use crate::names::fold;
use crate::statement::{Body, Statement};
use datafusion::sql::sqlparser::ast::{CloseCursor, DiscardObject, Statement as Ast};
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use values::types;

/// A statement that the server of a connection executes.
#[derive(Debug, Clone)]
pub enum ConnectionStatement {
    /// DECLARE.
    Declare(Box<Declare>),
    /// FETCH or MOVE.
    Fetch(Fetch),
    /// CLOSE of a cursor; `None` for CLOSE ALL.
    Close(Option<String>),
    /// PREPARE.
    Prepare {
        /// The name.
        name: String,
        /// The declared types of `$1`, `$2`, ...
        types: Vec<Option<SqlType>>,
        /// The statement.
        statement: Box<Statement>,
    },
    /// EXECUTE, or EXPLAIN EXECUTE.
    Execute(Box<Execute>),
    /// DEALLOCATE of a prepared statement; `None` for DEALLOCATE ALL.
    Deallocate(Option<String>),
    /// DISCARD ALL.
    DiscardAll,
    /// DISCARD SEQUENCES.
    DiscardSequences,
    /// A DISCARD that has no effect, by its command tag.
    DiscardNothing(&'static str),
    /// UNLISTEN, which has no effect: LISTEN is not supported.
    Unlisten,
}

impl Statement {
    /// The statement for the connection. `None` if the session executes the statement.
    ///
    /// # Errors
    /// 0A000 for LISTEN and NOTIFY; 42601 for PREPARE of a statement that cannot be prepared; 42704
    /// for an unknown parameter type.
    pub fn for_connection(&self) -> Option<Result<ConnectionStatement>> {
        let ast = match self.body() {
            Body::Sql(ast) => ast,
            Body::Cursor(CursorStatement::Declare(declare)) => {
                let declare = Declare::of(declare, self);
                if self.change().is_some() {
                    let message =
                        "DECLARE CURSOR must not contain data-modifying statements in WITH";
                    return Some(Err(Error::new(SqlState::FeatureNotSupported, message)));
                }
                return Some(Ok(ConnectionStatement::Declare(Box::new(declare))));
            }
            Body::Cursor(CursorStatement::Fetch(fetch)) => {
                return Some(Ok(ConnectionStatement::Fetch(fetch.clone())));
            }
            Body::ClientCopy(_)
            | Body::Role(_)
            | Body::AlterSystem(_)
            | Body::Query
            | Body::Change => return None,
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
                ConnectionStatement::DiscardSequences
            }
            Ast::UNLISTEN { .. } => ConnectionStatement::Unlisten,
            Ast::LISTEN { .. } => return Some(Err(Error::unsupported("LISTEN is not supported"))),
            Ast::NOTIFY { .. } => return Some(Err(Error::unsupported("NOTIFY is not supported"))),
            _ => return None,
        }))
    }
}

/// Whether PREPARE accepts a statement.
fn is_preparable(statement: &Ast) -> bool {
    use Ast::{Delete, Insert, Merge, Query, Update};
    matches!(statement, Query(_) | Insert(_) | Update(_) | Delete(_) | Merge(_))
}

fn not_preparable(statement: &Ast) -> Error {
    let text = statement.to_string();
    let word = text.split_whitespace().next().unwrap_or_default();
    Error::new(SqlState::SyntaxError, format!("syntax error at or near \"{word}\""))
        .with_hint("PREPARE accepts SELECT, VALUES, INSERT, UPDATE, DELETE and MERGE.")
}
