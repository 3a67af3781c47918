//! Statements that the server of a connection executes: cursors and prepared statements.

mod execute;

pub use commands::{Direction, Fetch, Prepare};
pub use execute::Execute;

use crate::statement::{Body, Statement};
use commands::{Command, Discard};
use values::error::{Error, Result, SqlState};

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
        /// The name, and the declared types of `$1`, `$2`, ... as they are written.
        prepare: Prepare,
        /// The statement.
        statement: Box<Statement>,
    },
    /// EXECUTE, EXPLAIN EXECUTE, or CREATE TABLE AS EXECUTE.
    Execute(Box<Execute>),
    /// DEALLOCATE of a prepared statement; `None` for DEALLOCATE ALL.
    Deallocate(Option<String>),
    /// DISCARD ALL.
    DiscardAll,
    /// DISCARD SEQUENCES.
    DiscardSequences,
    /// A DISCARD that has no effect, by its command tag.
    DiscardNothing(&'static str),
}

/// DECLARE: a cursor over a query.
#[derive(Debug, Clone)]
pub struct Declare {
    /// The name of the cursor.
    pub name: String,
    /// The query.
    pub query: Statement,
    /// Whether values are returned in binary format (BINARY).
    pub binary: bool,
    /// Whether the cursor can move backwards (SCROLL).
    pub scroll: bool,
    /// Whether the cursor can move backwards without SCROLL, as long as it has few rows.
    pub goes_back: bool,
    /// Whether the cursor stays open after its transaction commits (WITH HOLD).
    pub hold: bool,
}

impl Statement {
    /// The statement for the connection. `None` if the session executes the statement.
    ///
    /// # Errors
    /// 0A000 for changes in the query of a cursor.
    pub fn for_connection(&self) -> Option<Result<ConnectionStatement>> {
        let Body::Command(command) = self.body() else { return None };
        Some(Ok(match command {
            Command::Declare(declaration) => {
                if self.change().is_some() {
                    let message =
                        "DECLARE CURSOR must not contain data-modifying statements in WITH";
                    return Some(Err(Error::new(SqlState::FeatureNotSupported, message)));
                }
                let Some(query) = self.inner() else { return Some(Err(incomplete())) };
                let name = declaration.name.clone();
                let (binary, hold) = (declaration.is_binary, declaration.holds);
                let (scroll, goes_back) = (declaration.scrolls, declaration.goes_back);
                let declare = Declare { name, query, binary, scroll, goes_back, hold };
                ConnectionStatement::Declare(Box::new(declare))
            }
            Command::Fetch(fetch) => ConnectionStatement::Fetch(fetch.clone()),
            Command::Close(name) => ConnectionStatement::Close(name.clone()),
            Command::Prepare(prepare) => {
                let Some(statement) = self.inner() else { return Some(Err(incomplete())) };
                let (prepare, statement) = (prepare.clone(), Box::new(statement));
                ConnectionStatement::Prepare { prepare, statement }
            }
            Command::Execute(_) | Command::Explain(_) | Command::Definition(_) => {
                let execute = Execute::of(self)?;
                ConnectionStatement::Execute(Box::new(execute))
            }
            Command::Deallocate(name) => ConnectionStatement::Deallocate(name.clone()),
            Command::Discard(Discard::All) => ConnectionStatement::DiscardAll,
            Command::Discard(Discard::Plans) => {
                ConnectionStatement::DiscardNothing("DISCARD PLANS")
            }
            Command::Discard(Discard::Sequences) => ConnectionStatement::DiscardSequences,
            _ => return None,
        }))
    }
}

/// The error of a tree without a part that the grammar always makes.
fn incomplete() -> Error {
    Error::unsupported("this form of the statement is not supported")
}
