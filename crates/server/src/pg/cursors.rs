//! Cursors in SQL: DECLARE, FETCH, CLOSE. A cursor is a portal whose rows are fetched by statements.

use super::connection::{Connection, Stream};
use super::extended::{Answer, Portal, attempt};
use super::frontend::Format;
use super::steer::no_cursor;
use query::{Error, Outcome, ScalarValue, SqlState, Statement, TransactionStatus};

impl<S: Stream> Connection<S> {
    pub(crate) async fn declare(
        &mut self,
        name: String,
        query: Statement,
        values: &[ScalarValue],
        binary: bool,
        hold: bool,
    ) -> Answer {
        if self.portals.contains_key(&name) {
            let message = format!("cursor \"{name}\" already exists");
            return Ok(Err(Error::new(SqlState::DuplicateCursor, message)));
        }
        if !hold && self.session.transaction_status().await == TransactionStatus::Idle {
            let message = "DECLARE CURSOR can only be used in transaction blocks";
            return Ok(Err(Error::new(SqlState::NoActiveSqlTransaction, message)));
        }
        match attempt!(self.session.prepare_statement(query).execute(values).await) {
            Outcome::Rows(rows) => {
                let format = if binary { Format::Binary } else { Format::Text };
                self.portals.insert(name, Portal::cursor(rows, vec![format], hold));
            }
            Outcome::Done(tag) => {
                let message = format!("{} gives no rows for a cursor", tag.command);
                return Ok(Err(Error::new(SqlState::SyntaxError, message)));
            }
        }
        self.wire.out.command_complete("DECLARE CURSOR");
        Ok(Ok(()))
    }

    pub(crate) async fn fetch_from_cursor(
        &mut self,
        name: &str,
        count: Option<usize>,
        formats: &[Format],
        describe: bool,
    ) -> Answer {
        let Some(mut portal) = self.portals.remove(name) else { return Ok(Err(no_cursor(name))) };
        let formats =
            if portal.is_binary_cursor() { vec![Format::Binary] } else { formats.to_vec() };
        if describe && let Some(fields) = portal.fields() {
            self.wire.out.row_description(fields, &formats);
        }
        let sent = attempt!(self.fetch_rows(&mut portal, &formats, count).await?);
        self.portals.insert(name.to_owned(), portal);
        self.wire.out.command_complete(&format!("FETCH {sent}"));
        Ok(Ok(()))
    }
}
