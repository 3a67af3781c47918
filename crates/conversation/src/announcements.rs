//! What a session notifies and listens to.

use notifications::{Hub, Listening, Mailbox, Mark, Notification, Staged};
use parking_lot::Mutex;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// What a session notifies and listens to.
#[derive(Debug, Default)]
pub struct Announcements {
    /// Of the open transaction, or of the running statement.
    staged: Mutex<Staged>,
    /// Of transactions that have committed.
    ready: Mutex<(Vec<Listening>, Vec<Notification>)>,
    /// What the session has received.
    pub mailbox: Arc<Mailbox>,
}

impl Announcements {
    /// Adds a notification to the transaction.
    ///
    /// # Errors
    /// 22023 for a channel or a payload that is too long.
    pub fn notify(&self, notification: Notification) -> Result<()> {
        let refused = |refused: notifications::Refused| {
            Error::new(SqlState::InvalidParameterValue, refused.0)
        };
        self.staged.lock().notify(notification).map_err(refused)
    }

    /// Adds a change of what the session listens to.
    pub fn listen(&self, change: Listening) {
        self.staged.lock().listen(change);
    }

    /// The transaction has committed.
    pub fn committed(&self) {
        let (listening, notifications) = self.staged.lock().take();
        let mut ready = self.ready.lock();
        ready.0.extend(listening);
        ready.1.extend(notifications);
    }

    /// The transaction was rolled back.
    pub fn rolled_back(&self) {
        drop(self.staged.lock().take());
    }

    /// The state of the transaction, to go back to.
    pub fn mark(&self) -> Mark {
        self.staged.lock().mark()
    }

    /// Forgets what the transaction has notified since a mark.
    pub fn go_back(&self, mark: Mark) {
        self.staged.lock().go_back(mark);
    }

    /// Publishes on this server what has committed. Returns what others have to hear.
    pub fn publish(&self, hub: &Hub, process: u32) -> Vec<Notification> {
        let (listening, notifications) = std::mem::take(&mut *self.ready.lock());
        if !listening.is_empty() {
            hub.listen(process, &self.mailbox, &listening);
        }
        if !notifications.is_empty() {
            hub.publish(&notifications);
        }
        notifications
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.staged.lock().is_empty() && {
            let ready = self.ready.lock();
            ready.0.is_empty() && ready.1.is_empty()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_back_is_not_published() {
        let announcements = Announcements::default();
        let of = |channel: &str| {
            let (channel, payload) = (channel.to_owned(), String::new());
            Notification { process: 1, channel, payload }
        };
        announcements.notify(of("kept")).expect("a short channel");
        let mark = announcements.mark();
        announcements.notify(of("undone")).expect("a short channel");
        announcements.go_back(mark);
        announcements.committed();
        announcements.notify(of("undone")).expect("a short channel");
        announcements.rolled_back();
        assert!(!announcements.is_empty());
        assert_eq!(announcements.publish(&Hub::default(), 1), [of("kept")]);
        assert!(announcements.is_empty());
    }
}
