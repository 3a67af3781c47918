//! The state of a client's connection after login.

use super::Listener;
use super::portal::Portal;
use super::prepared::Prepared;
use super::texts::Texts;
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
    /// The open savepoints of the transaction, innermost last.
    pub(crate) savepoints: Vec<String>,
    /// The statements that the client has sent before.
    pub(super) texts: Texts,
    /// The output is to be sent when all received messages are handled.
    pub(super) flush_due: bool,
    /// A message of a group has failed: the others are skipped.
    pub(crate) skipping: bool,
    /// The reported settings with their last reported values.
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
            savepoints: Vec::new(),
            texts: Texts::default(),
            flush_due: false,
            skipping: false,
            reported: Vec::new(),
            settings_seen: SettingsSeen::default(),
        }
    }

    /// Commits the implicit transaction of a group of statements.
    pub(crate) async fn end_group(&mut self) {
        let mut committed = self.session.transaction_status() != TransactionStatus::Failed;
        if let Err(error) = self.session.end_implicit().await {
            self.fail(&error, 0).await;
            committed = false;
        }
        if !self.portals.is_empty() {
            self.transaction_ended(committed, false).await;
        }
    }

    /// Reports that the server is ready for the next query.
    pub(super) async fn ready(&mut self) {
        self.session.announce().await;
        let status = self.session.settle();
        if self.session.settings_changed(&mut self.settings_seen) {
            self.report_settings();
        }
        self.deliver(status);
        self.session.rests(status);
        self.wire.out.ready(status);
        self.flush_due = true;
    }

    /// Sends the notifications that the session has received, unless a transaction is open.
    pub(super) fn deliver(&mut self, status: TransactionStatus) {
        if status == TransactionStatus::Idle {
            for notification in self.session.take_notifications() {
                self.wire.out.notification(&notification);
            }
        }
    }

    /// Counts a completed statement, and logs it if it was slow.
    pub(crate) fn count(&self, kind: StatementKind, text: &str, since: Instant, rows: usize) {
        let time = since.elapsed();
        self.listener.metrics.statement(kind, time, rows as u64);
        if self.listener.slow_statement.is_some_and(|limit| time > limit) {
            let milliseconds = time.as_secs_f64() * 1e3;
            tracing::warn!(milliseconds, rows, statement = text, "slow statement");
        }
    }

    /// Reports an error; an open transaction has failed. That of a failed COMMIT has ended.
    pub(crate) async fn fail(&mut self, error: &Error, offset: usize) {
        self.notices();
        self.session.fail();
        self.transaction_ended(false, false).await;
        self.listener.metrics.error(error.state());
        self.wire.out.error("ERROR", error, offset);
        // A client that requested answers with Flush waits for this one.
        self.flush_due = true;
    }

    /// Requests that the output is sent when all received messages are handled.
    pub(crate) fn flush_due(&mut self) {
        self.flush_due = true;
    }

    /// Sends the notices of statements.
    pub(crate) fn notices(&mut self) {
        for notice in self.session.take_notices() {
            self.wire.out.notice(&notice);
        }
    }

    /// Reports settings that have changed.
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
