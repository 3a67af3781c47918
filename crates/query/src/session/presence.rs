//! What others may know of a session and do to it: `pg_stat_activity`, `pg_cancel_backend`, `pg_terminate_backend`.
//!
//! A session is known by its process number, which its client was told for cancel requests. Those that nobody is
//! connected to, inside programs, have a number too and are not listed.

use super::Session;
use catalog_views::session_context::SessionContext;
use catalog_views::session_context::TransactionStatus;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes of a statement's text that others see at most.
const QUERY_BYTES_MAX: usize = 1024;

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
