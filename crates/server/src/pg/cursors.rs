//! SQL cursors: DECLARE, FETCH, MOVE. A cursor is a portal whose rows are fetched by statements.

use super::connection::Connection;
use super::error::{Answer, attempt};
use super::extended::cannot_run;
use super::held::Held;
use super::portal::{Kind, Portal, State};
use super::prepared::{Prepared, changed_result};
use super::reading::Reading;
use super::wire::Stream;
use frontend::Format;
use query::{
    Declare, Error, Fetch, Listing, Outcome, ScalarValue, SqlState, Statement, TransactionStatus,
};
use std::sync::Arc;

/// Maximum number of bytes of rows that a cursor keeps to go back without SCROLL.
const KEPT_MAX: usize = 8 << 20;

impl<S: Stream> Connection<S> {
    pub(crate) async fn declare(
        &mut self,
        declare: Declare,
        text: &str,
        values: &[ScalarValue],
    ) -> Answer {
        let Declare { name, query, binary, scroll, goes_back, hold } = declare;
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
                let memory = self.listener.database.store().memory();
                let held = match scroll {
                    true => Some(Held::new(memory)),
                    false => goes_back.then(|| Held::at_most(memory, KEPT_MAX)),
                };
                let scrolls = scroll || goes_back;
                let listing = self.session.list_cursor(&name, text, binary, scrolls, hold);
                let portal = Portal {
                    prepared: Arc::new(Prepared::nothing()),
                    values: Vec::new(),
                    formats: Vec::new(),
                    state: State::Open(Box::new(Reading::new(rows, held))),
                    kind: Kind::Cursor { binary, hold },
                    savepoints: self.savepoints.len(),
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
            let error = cannot_run(&name);
            self.portals.insert(name, portal);
            return Ok(Err(error));
        };
        if describe && !moves {
            self.wire.out.row_description(&reading.rows.fields, formats);
        }
        self.session.resume(&reading.rows);
        let fetched = self.fetch(reading, direction, formats, moves).await?;
        self.session.pause(&reading.rows);
        if fetched.is_err() {
            portal.state = State::Failed;
        }
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

    /// Follows a statement on savepoints that is done. ROLLBACK TO closes the cursors that were created since.
    pub(crate) fn savepoints_changed(&mut self, statement: &Statement) {
        use query::Transaction::{Begin, Commit, Release, Rollback, RollbackTo, Savepoint};
        let Some(transaction) = statement.transaction() else { return };
        let index = |name: &String| self.savepoints.iter().rposition(|known| known == name);
        match transaction {
            Savepoint(name) => self.savepoints.push(name.clone()),
            Release(name) => {
                let Some(index) = index(name) else { return };
                self.savepoints.truncate(index);
                for portal in self.portals.values_mut() {
                    portal.savepoints = portal.savepoints.min(index);
                }
            }
            RollbackTo(name) => {
                let Some(index) = index(name) else { return };
                self.savepoints.truncate(index + 1);
                self.portals
                    .retain(|_, portal| portal.kind == Kind::Bound || portal.savepoints <= index);
            }
            // In an open transaction it is only a warning.
            Begin { .. } => {}
            Commit { .. } | Rollback { .. } => self.savepoints.clear(),
        }
    }

    /// Closes the cursors of a transaction that has ended, except those WITH HOLD after a commit.
    /// `chains` says whether the next transaction is open already.
    pub(crate) async fn transaction_ended(&mut self, committed: bool, chains: bool) {
        if !chains && self.session.transaction_status() != TransactionStatus::Idle {
            return;
        }
        self.savepoints.clear();
        self.portals.retain(|_, portal| {
            portal.is_committed |= committed && portal.holds();
            if portal.is_committed {
                portal.savepoints = 0;
                portal.listing.iter().for_each(Listing::committed);
            }
            portal.is_committed
        });
    }
}

pub(crate) fn no_cursor(name: &str) -> Error {
    Error::new(SqlState::InvalidCursorName, format!("cursor \"{name}\" does not exist"))
}
