//! What a transaction notifies, and how it changes what its session listens to. Both have effect when it commits.

use crate::Notification;
use std::collections::HashSet;

/// The most bytes of a channel's name.
const CHANNEL_MAX: usize = 63;
/// The most bytes of a payload.
const PAYLOAD_MAX: usize = 7_999;

/// A change of what a session listens to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listening {
    /// LISTEN.
    Begin(String),
    /// UNLISTEN.
    End(String),
    /// UNLISTEN *.
    EndAll,
}

/// What a transaction has collected.
#[derive(Debug, Default)]
pub struct Staged {
    listening: Vec<Listening>,
    notifications: Vec<Notification>,
    known: HashSet<Notification>,
}

/// A state of [`Staged`] to go back to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark {
    listening: usize,
    notifications: usize,
}

/// Why a notification is refused; the message is PostgreSQL's, and the SQLSTATE is 22023.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused(pub &'static str);

impl Staged {
    /// Adds a notification, unless the transaction has an equal one.
    ///
    /// # Errors
    /// [`Refused`] for an empty or a long channel, and for a long payload.
    pub fn notify(&mut self, notification: Notification) -> Result<(), Refused> {
        if notification.channel.is_empty() {
            return Err(Refused("channel name cannot be empty"));
        }
        if notification.channel.len() > CHANNEL_MAX {
            return Err(Refused("channel name too long"));
        }
        if notification.payload.len() > PAYLOAD_MAX {
            return Err(Refused("payload string too long"));
        }
        if self.known.insert(notification.clone()) {
            self.notifications.push(notification);
        }
        Ok(())
    }

    /// Adds a change of what the session listens to.
    pub fn listen(&mut self, change: Listening) {
        self.listening.push(change);
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.listening.is_empty() && self.notifications.is_empty()
    }

    /// Takes everything: the transaction has ended.
    pub fn take(&mut self) -> (Vec<Listening>, Vec<Notification>) {
        let Self { listening, notifications, .. } = std::mem::take(self);
        (listening, notifications)
    }

    /// The present state, for a savepoint.
    pub fn mark(&self) -> Mark {
        Mark { listening: self.listening.len(), notifications: self.notifications.len() }
    }

    /// Forgets what came after a state.
    pub fn go_back(&mut self, mark: Mark) {
        self.listening.truncate(mark.listening);
        for forgotten in
            self.notifications.drain(mark.notifications.min(self.notifications.len())..)
        {
            self.known.remove(&forgotten);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hub, Mailbox};
    use std::sync::Arc;

    fn one(channel: &str, payload: &str) -> Notification {
        Notification { process: 1, channel: channel.to_owned(), payload: payload.to_owned() }
    }

    #[test]
    fn equal_notifications_of_a_transaction_are_one_and_savepoints_take_back() {
        let mut staged = Staged::default();
        staged.notify(one("a", "1")).expect("taken");
        let mark = staged.mark();
        staged.notify(one("a", "1")).expect("taken");
        staged.notify(one("b", "2")).expect("taken");
        staged.go_back(mark);
        staged.notify(one("a", "2")).expect("taken");
        staged.notify(one("b", "2")).expect("taken");
        assert_eq!(staged.take().1, [one("a", "1"), one("a", "2"), one("b", "2")]);
        assert!(staged.is_empty());
        assert!(staged.notify(one("", "")).is_err());
        assert!(staged.notify(one("a", &"x".repeat(8_000))).is_err());
    }

    #[test]
    fn listeners_get_what_their_channels_have_in_order() {
        let (hub, mailbox) = (Hub::default(), Arc::new(Mailbox::default()));
        hub.listen(1, &mailbox, &[Listening::Begin("a".to_owned())]);
        hub.publish(&[one("a", "1"), one("b", "2"), one("a", "3")]);
        assert_eq!(mailbox.take(), [one("a", "1"), one("a", "3")]);
        hub.listen(1, &mailbox, &[Listening::End("a".to_owned())]);
        hub.publish(&[one("a", "4")]);
        assert!(mailbox.take().is_empty());
    }
}
