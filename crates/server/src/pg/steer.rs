//! Statements that a connection executes itself: those on prepared statements and cursors by SQL
//! name.

use super::connection::Connection;
use super::cursors::no_cursor;
use super::error::{Answer, attempt};
use super::prepared::no_statement;
use super::wire::Stream;
use frontend::Format;
use query::{ConnectionStatement, Error, ScalarValue, SqlState, TransactionStatus};

impl<S: Stream> Connection<S> {
    /// Executes a statement on the connection and returns the number of rows sent. `describe`: send
    /// the row description first.
    pub(crate) async fn steer(
        &mut self,
        statement: ConnectionStatement,
        text: &str,
        formats: &[Format],
        values: &[ScalarValue],
        describe: bool,
    ) -> Answer<usize> {
        attempt!(self.session.refuse_if_failed());
        let tag = match statement {
            ConnectionStatement::Declare(declare) => {
                return Ok(self.declare(*declare, text, values).await?.map(|()| 0));
            }
            ConnectionStatement::Fetch(fetch) => {
                return self.fetch_from_cursor(fetch, formats, describe).await;
            }
            ConnectionStatement::Execute(execute) => {
                match attempt!(self.execute_by_statement(&execute, values).await) {
                    query::Outcome::Rows(rows) => return self.send_all(rows, &[], describe).await,
                    query::Outcome::Done(tag) => {
                        self.wire.out.command_complete(&tag.to_string());
                        return Ok(Ok(0));
                    }
                }
            }
            ConnectionStatement::Prepare { prepare, statement } => {
                attempt!(self.prepare_by_statement(prepare, text, *statement).await);
                "PREPARE"
            }
            ConnectionStatement::Close(Some(name)) => match self.portals.remove(&name) {
                Some(_) => "CLOSE CURSOR",
                None if self.session.close_opened(Some(&name)) => "CLOSE CURSOR",
                None => return Ok(Err(no_cursor(&name))),
            },
            ConnectionStatement::Close(None) => {
                self.portals.clear();
                self.session.close_opened(None);
                "CLOSE CURSOR ALL"
            }
            ConnectionStatement::Deallocate(Some(name)) => match self.statements.remove(&name) {
                Some(_) => "DEALLOCATE",
                None => return Ok(Err(no_statement(&name))),
            },
            ConnectionStatement::Deallocate(None) => {
                self.statements.clear();
                "DEALLOCATE ALL"
            }
            ConnectionStatement::DiscardAll => {
                if self.session.transaction_status() != TransactionStatus::Idle {
                    let message = "DISCARD ALL cannot run inside a transaction block";
                    return Ok(Err(Error::new(SqlState::ActiveSqlTransaction, message)));
                }
                let reset = "RESET SESSION AUTHORIZATION; RESET ALL; DISCARD TEMP; UNLISTEN *";
                attempt!(self.session.execute(reset).await.map(drop));
                self.session.forget_sequences();
                self.session.release_advisory_locks().await;
                self.portals.clear();
                self.statements.clear();
                "DISCARD ALL"
            }
            ConnectionStatement::DiscardSequences => {
                self.session.forget_sequences();
                "DISCARD SEQUENCES"
            }
            ConnectionStatement::DiscardNothing(tag) => tag,
        };
        self.wire.out.command_complete(tag);
        Ok(Ok(0))
    }
}
