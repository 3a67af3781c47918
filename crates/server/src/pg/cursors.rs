//! SQL cursors: DECLARE, FETCH, MOVE. A cursor is a portal whose rows are fetched by statements.

use super::connection::Connection;
use super::error::{Answer, attempt};
use super::held::Held;
use super::portal::{Kind, Portal, State};
use super::prepared::{Prepared, changed_result};
use super::reading::Reading;
use super::wire::Stream;
use frontend::Format;
use query::{Declare, Error, Fetch, Outcome, ScalarValue, SqlState, TransactionStatus};
use std::sync::Arc;

impl<S: Stream> Connection<S> {
    pub(crate) async fn declare(
        &mut self,
        declare: Declare,
        text: &str,
        values: &[ScalarValue],
    ) -> Answer {
        let Declare { name, query, binary, scroll, hold } = declare;
        attempt!(self.session.refuse_if_failed());
        if !hold && self.session.transaction_status() == TransactionStatus::Idle {
            let message = "DECLARE CURSOR can only be used in transaction blocks";
            return Ok(Err(Error::new(SqlState::NoActiveSqlTransaction, message)));
        }
        if self.portals.contains_key(&name) {
            let message = format!("cursor \"{name}\" already exists");
            return Ok(Err(Error::new(SqlState::DuplicateCursor, message)));
        }
        match attempt!(self.session.prepare_statement(query).execute(values).await) {
            Outcome::Rows(rows) => {
                self.session.pause(&rows);
                let held = scroll.then(|| Held::new(self.listener.database.store().memory()));
                let listing = self.session.list_cursor(&name, text, binary, scroll, hold);
                let portal = Portal {
                    prepared: Arc::new(Prepared::nothing()),
                    values: Vec::new(),
                    formats: Vec::new(),
                    state: State::Open(Box::new(Reading::new(rows, held))),
                    kind: Kind::Cursor { binary, hold },
                    is_committed: false,
                    listing: Some(listing),
                };
                self.portals.insert(name, portal);
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
        fetch: Fetch,
        formats: &[Format],
        describe: bool,
    ) -> Answer<usize> {
        let Fetch { cursor: name, direction, moves } = fetch;
        attempt!(self.session.refuse_if_failed());
        let Some(mut portal) = self.portals.remove(&name) else {
            let fetch = Fetch { cursor: name, direction, moves };
            return self.fetch_from_opened(&fetch, formats, describe).await;
        };
        attempt!(self.open(&mut portal).await);
        let own = portal.own_format().map(|format| vec![format]);
        let formats = own.as_deref().unwrap_or(formats);
        let State::Open(reading) = &mut portal.state else {
            let message = format!("portal \"{name}\" cannot be run");
            return Ok(Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message)));
        };
        if describe && !moves {
            self.wire.out.row_description(&reading.rows.fields, formats);
        }
        self.session.resume(&reading.rows);
        let fetched = self.fetch(reading, direction, formats, moves).await?;
        self.session.pause(&reading.rows);
        // A failed fetch does not change the position.
        self.portals.insert(name, portal);
        let count = attempt!(fetched);
        let command = if moves { "MOVE" } else { "FETCH" };
        self.wire.out.command_complete(&format!("{command} {count}"));
        Ok(Ok(count))
    }

    /// FETCH or MOVE of a cursor that a function has opened.
    async fn fetch_from_opened(
        &mut self,
        fetch: &Fetch,
        formats: &[Format],
        describe: bool,
    ) -> Answer<usize> {
        match attempt!(self.session.fetch_opened(fetch)) {
            Outcome::Rows(rows) => self.send_all(rows, formats, describe).await,
            Outcome::Done(tag) => {
                self.wire.out.command_complete(&tag.to_string());
                Ok(Ok(0))
            }
        }
    }

    /// Executes a portal that is only bound.
    async fn open(&mut self, portal: &mut Portal) -> Result<(), Error> {
        let State::Bound = portal.state else { return Ok(()) };
        let Some((_, planned)) = &portal.prepared.statement else { return Ok(()) };
        if let Outcome::Rows(rows) = planned.execute(&portal.values).await? {
            if portal.prepared.promised_others(&rows) {
                return Err(changed_result());
            }
            portal.state = State::Open(Box::new(Reading::new(rows, None)));
        }
        Ok(())
    }

    /// Closes the cursors of a transaction that has ended, except those WITH HOLD after a commit.
    /// `chains` says whether the next transaction is open already.
    pub(crate) async fn transaction_ended(&mut self, committed: bool, chains: bool) {
        if !chains && self.session.transaction_status() != TransactionStatus::Idle {
            return;
        }
        self.portals.retain(|_, portal| {
            portal.is_committed |= committed && portal.holds();
            if let Some(listing) = portal.listing.as_ref().filter(|_| portal.is_committed) {
                listing.committed();
            }
            portal.is_committed
        });
    }
}

pub(crate) fn no_cursor(name: &str) -> Error {
    Error::new(SqlState::InvalidCursorName, format!("cursor \"{name}\" does not exist"))
}
