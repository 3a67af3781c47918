//! What others may know of a session and do to it: `pg_stat_activity`, `pg_cancel_backend`, `pg_terminate_backend`.
//!
//! A session is known by its process number, which its client was told for cancel requests. Those that nobody is
//! connected to, inside programs, have a number too and are not listed.

use super::cancel::Cancellation;
use super::{Context, Session};
use crate::catalog_views::session_context::TransactionStatus;
use crate::catalog_views::session_context::{Activity, SessionContext};
use crate::database::Shared;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::SystemTime;
use tokio_util::sync::CancellationToken;

/// Process numbers are below this: clients keep them in a signed integer.
const PROCESSES: u32 = 1 << 31;

/// Bytes of a statement's text that others see at most.
const QUERY_BYTES_MAX: usize = 1024;

/// The sessions of a database, by their process numbers.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    last: u32,
    sessions: BTreeMap<u32, Weak<Context>>,
}

impl Sessions {
    /// A number that no session has, for one that will be [`Self::put`].
    pub(crate) fn number(&self) -> u32 {
        let mut known = self.0.lock();
        loop {
            known.last = (known.last + 1) % PROCESSES;
            if known.last != 0 && !known.sessions.contains_key(&known.last) {
                return known.last;
            }
        }
    }

    pub(crate) fn put(&self, names: &Arc<Context>) {
        self.0.lock().sessions.insert(names.presence.process, Arc::downgrade(names));
    }

    pub(crate) fn remove(&self, process: u32) {
        self.0.lock().sessions.remove(&process);
    }

    /// The session of a process number, if somebody is connected to it.
    pub(crate) fn get(&self, process: i64) -> Option<Arc<Context>> {
        let process = u32::try_from(process).ok()?;
        let session = self.0.lock().sessions.get(&process)?.upgrade()?;
        session.presence.activity().is_connected.then_some(session)
    }

    /// The sessions that somebody is connected to.
    pub(crate) fn connected(&self) -> Vec<Arc<Context>> {
        let sessions: Vec<_> = self.0.lock().sessions.values().filter_map(Weak::upgrade).collect();
        sessions.into_iter().filter(|names| names.presence.activity().is_connected).collect()
    }
}

/// What is known of a session.
#[derive(Debug)]
pub(crate) struct Presence {
    pub(crate) process: u32,
    pub(crate) begun: SystemTime,
    pub(crate) cancellation: Cancellation,
    /// Somebody wants it to end.
    pub(crate) terminated: CancellationToken,
    activity: Mutex<Activity>,
}

impl Presence {
    pub(super) fn new(shared: &Shared) -> Self {
        let begun = SystemTime::now();
        let activity = Activity {
            is_connected: false,
            client: None,
            is_active: false,
            status: TransactionStatus::Idle,
            query: Arc::from(""),
            query_began: None,
            transaction_began: None,
            changed: begun,
        };
        Self {
            process: shared.sessions.number(),
            begun,
            cancellation: Cancellation::default(),
            terminated: CancellationToken::new(),
            activity: Mutex::new(activity),
        }
    }

    pub(crate) fn activity(&self) -> Activity {
        self.activity.lock().clone()
    }
}

impl Session {
    /// The number that the session is known by to those who cancel or end it.
    pub fn process(&self) -> u32 {
        self.inner().context.presence.process
    }

    /// Somebody is connected, from there.
    pub fn connected(&self, client: Option<SocketAddr>) {
        let mut activity = self.inner().context.presence.activity.lock();
        activity.is_connected = true;
        activity.client = client;
    }

    /// Whether somebody has ended the session.
    pub fn is_terminated(&self) -> bool {
        self.inner().context.presence.terminated.is_cancelled()
    }

    /// Ready when somebody wants the session to end.
    pub async fn terminated(&self) {
        self.inner().context.presence.terminated.cancelled().await;
    }

    /// What has come from the client is being worked on, as [`activity_text`] says it.
    pub fn works_on(&self, query: &Arc<str>) {
        let now = SystemTime::now();
        let mut activity = self.inner().context.presence.activity.lock();
        activity.query = Arc::clone(query);
        activity.is_active = true;
        activity.query_began = Some(now);
        activity.changed = now;
        activity.transaction_began.get_or_insert(now);
    }

    /// Everything that has come is answered.
    pub fn rests(&self, status: TransactionStatus) {
        let mut activity = self.inner().context.presence.activity.lock();
        activity.status = status;
        if status == TransactionStatus::Idle {
            activity.transaction_began = None;
        }
        if std::mem::take(&mut activity.is_active) {
            activity.changed = SystemTime::now();
        }
    }
}

/// As much of a statement's text as others see: a session keeps it while it rests.
pub fn activity_text(text: &str) -> Arc<str> {
    let end = (0..=QUERY_BYTES_MAX.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    Arc::from(&text[..end.unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_shown_by_its_beginning() {
        assert_eq!(&*activity_text("SELECT 1"), "SELECT 1");
        let long = format!("a{}", "ö".repeat(QUERY_BYTES_MAX));
        let shown = activity_text(&long);
        assert_eq!(shown.len(), QUERY_BYTES_MAX - 1);
        assert!(long.starts_with(&*shown));
    }
}
