//! Statements that a connection carries out itself: prepared statements and cursors by their SQL names.

use super::connection::{Connection, Stream};
use super::extended::{Answer, attempt};
use super::frontend::Format;
use query::{ConnectionStatement, Error, ScalarValue, SqlState};

impl<S: Stream> Connection<S> {
    /// Carries a statement out for the connection. `describe`: the rows of FETCH are described first.
    pub(crate) async fn steer(
        &mut self,
        statement: ConnectionStatement,
        formats: &[Format],
        values: &[ScalarValue],
        describe: bool,
    ) -> Answer {
        let tag = match statement {
            ConnectionStatement::Declare { name, query, binary, hold } => {
                return self.declare(name, *query, values, binary, hold).await;
            }
            ConnectionStatement::Fetch { name, count } => {
                return self.fetch_from_cursor(&name, count, formats, describe).await;
            }
            ConnectionStatement::Close(Some(name)) => match self.portals.remove(&name) {
                Some(_) => "CLOSE CURSOR",
                None => return Ok(Err(no_cursor(&name))),
            },
            ConnectionStatement::Close(None) => {
                self.portals.clear();
                "CLOSE CURSOR ALL"
            }
            ConnectionStatement::Deallocate(Some(name)) => match self.statements.remove(&name) {
                Some(_) => "DEALLOCATE",
                None => {
                    let message = format!("prepared statement \"{name}\" does not exist");
                    return Ok(Err(Error::new(SqlState::InvalidSqlStatementName, message)));
                }
            },
            ConnectionStatement::Deallocate(None) => {
                self.statements.clear();
                "DEALLOCATE ALL"
            }
            ConnectionStatement::DiscardAll => {
                attempt!(self.session.execute("RESET ALL").await.map(drop));
                self.portals.clear();
                self.statements.clear();
                "DISCARD ALL"
            }
            ConnectionStatement::DiscardNothing => "DISCARD",
            ConnectionStatement::Unlisten => "UNLISTEN",
        };
        self.wire.out.command_complete(tag);
        Ok(Ok(()))
    }
}

pub(crate) fn no_cursor(name: &str) -> Error {
    Error::new(SqlState::InvalidCursorName, format!("cursor \"{name}\" does not exist"))
}
