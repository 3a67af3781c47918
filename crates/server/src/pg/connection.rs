//! The state of a client's connection after login.

use super::Listener;
use super::portal::Portal;
use super::prepared::Prepared;
use super::wire::{Stream, Wire};
use query::{Error, Session, SettingsSeen, StatementKind, TransactionStatus};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// A client's session.
pub(crate) struct Connection<S> {
    pub(crate) wire: Wire<S>,
    pub(crate) session: Session,
    pub(crate) listener: Arc<Listener>,
    pub(crate) statements: HashMap<String, Arc<Prepared>>,
    pub(crate) portals: HashMap<String, Portal>,
    /// Answers are due as soon as nothing more is there to handle.
    pub(super) flush_due: bool,
    /// A message of a group has failed: the others are passed over.
    pub(crate) skipping: bool,
    /// The values that the client was last told of the settings that it follows.
    pub(crate) reported: Vec<(&'static str, String)>,
    settings_seen: SettingsSeen,
}

impl<S: Stream> Connection<S> {
    pub(crate) fn new(wire: Wire<S>, session: Session, listener: Arc<Listener>) -> Self {
        Self {
            wire,
            session,
            listener,
            statements: HashMap::new(),
            portals: HashMap::new(),
            flush_due: false,
            skipping: false,
            reported: Vec::new(),
            settings_seen: SettingsSeen::default(),
        }
    }

    /// Commits what statements that came together have done.
    pub(crate) async fn end_group(&mut self) {
        if let Err(error) = self.session.end_implicit().await {
            self.fail(&error, 0).await;
        }
        let status = self.session.transaction_status().await;
        if status == TransactionStatus::Idle && !self.portals.is_empty() {
            self.portals.retain(|_, portal| portal.is_committed);
        }
    }

    /// Tells the client that it may go on.
    pub(super) async fn ready(&mut self) {
        let status = self.session.settle().await;
        if self.session.settings_changed(&mut self.settings_seen) {
            self.report_settings();
        }
        self.session.rests(status);
        self.wire.out.ready(status);
        self.flush_due = true;
    }

    /// Counts a statement that is complete, and logs it if it was slow.
    pub(crate) fn count(&self, kind: StatementKind, text: &str, since: Instant, rows: usize) {
        let time = since.elapsed();
        self.listener.metrics.statement(kind, time, rows as u64);
        if self.listener.slow_statement.is_some_and(|limit| time > limit) {
            let milliseconds = time.as_secs_f64() * 1e3;
            tracing::warn!(milliseconds, rows, statement = text, "slow statement");
        }
    }

    /// Tells the client of an error; the transaction, if one is open, has failed.
    pub(crate) async fn fail(&mut self, error: &Error, offset: usize) {
        self.notices();
        self.session.fail().await;
        self.listener.metrics.error(error.state());
        self.wire.out.error("ERROR", error, offset);
        // A client that asked for answers with Flush waits for this one.
        self.flush_due = true;
    }

    /// What is gathered is sent as soon as nothing more is there to handle.
    pub(crate) fn flush_due(&mut self) {
        self.flush_due = true;
    }

    /// Passes on what statements had to say.
    pub(crate) fn notices(&mut self) {
        for notice in self.session.take_notices() {
            self.wire.out.notice(&notice);
        }
    }

    /// Tells the client of settings that it follows and that have changed.
    fn report_settings(&mut self) {
        for (name, value) in &mut self.reported {
            let Some(now) = self.session.setting(&name.to_lowercase()) else { continue };
            if now != *value {
                self.wire.out.parameter_status(name, &now);
                *value = now;
            }
        }
    }
}
