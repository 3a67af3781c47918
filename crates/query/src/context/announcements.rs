//! What a session notifies and listens to.

use notifications::{Hub, Listening, Mailbox, Mark, Notification, Staged};
use parking_lot::Mutex;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// What a session notifies and listens to.
#[derive(Debug, Default)]
pub(crate) struct Announcements {
    /// Of the open transaction, or of the running statement.
    staged: Mutex<Staged>,
    /// Of transactions that have committed.
    ready: Mutex<(Vec<Listening>, Vec<Notification>)>,
    pub(crate) mailbox: Arc<Mailbox>,
}

impl Announcements {
    /// Adds a notification to the transaction.
    ///
    /// # Errors
    /// 22023 for a channel or a payload that is too long.
    pub(crate) fn notify(&self, notification: Notification) -> Result<()> {
        let refused = |refused: notifications::Refused| {
            Error::new(SqlState::InvalidParameterValue, refused.0)
        };
        self.staged.lock().notify(notification).map_err(refused)
    }

    /// Adds a change of what the session listens to.
    pub(crate) fn listen(&self, change: Listening) {
        self.staged.lock().listen(change);
    }

    /// The transaction has committed.
    pub(crate) fn committed(&self) {
        let (listening, notifications) = self.staged.lock().take();
        let mut ready = self.ready.lock();
        ready.0.extend(listening);
        ready.1.extend(notifications);
    }

    /// The transaction was rolled back.
    pub(crate) fn rolled_back(&self) {
        drop(self.staged.lock().take());
    }

    pub(crate) fn mark(&self) -> Mark {
        self.staged.lock().mark()
    }

    pub(crate) fn go_back(&self, mark: Mark) {
        self.staged.lock().go_back(mark);
    }

    /// Publishes on this server what has committed. Returns what others have to hear.
    pub(crate) fn publish(&self, hub: &Hub, process: u32) -> Vec<Notification> {
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
    pub(crate) fn is_empty(&self) -> bool {
        self.staged.lock().is_empty() && {
            let ready = self.ready.lock();
            ready.0.is_empty() && ready.1.is_empty()
        }
    }
}
