//! What a connection reports of its session: for `pg_stat_activity`, `pg_cancel_backend` and `pg_terminate_backend`.

use super::Session;
use catalog_views::session_context::TransactionStatus;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

/// Bytes of a statement's text that other sessions see at most.
const QUERY_BYTES_MAX: usize = 1024;

impl Session {
    /// The process number, which identifies the session in cancel requests.
    pub fn process(&self) -> u32 {
        self.inner().context.presence.process
    }

    /// Marks the session as connected to a client at an address.
    pub fn connected(&self, client: Option<SocketAddr>) {
        let mut activity = self.inner().context.presence.activity.lock();
        activity.is_connected = true;
        activity.client = client;
    }

    /// Whether the session has to end.
    pub fn is_terminated(&self) -> bool {
        self.inner().context.presence.terminated.is_cancelled()
    }

    /// Completes when the session has to end.
    pub async fn terminated(&self) {
        self.inner().context.presence.terminated.cancelled().await;
    }

    /// Marks the session as active with a statement, whose text is from [`activity_text`].
    pub fn works_on(&self, query: &Arc<str>) {
        let now = SystemTime::now();
        let mut activity = self.inner().context.presence.activity.lock();
        activity.query = Arc::clone(query);
        activity.is_active = true;
        activity.query_began = Some(now);
        activity.changed = now;
        activity.transaction_began.get_or_insert(now);
    }

    /// Marks the session as idle: all received messages are answered.
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

/// The part of a statement's text that other sessions see.
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
