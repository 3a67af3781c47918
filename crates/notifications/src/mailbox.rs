//! What a session has received and not yet delivered.

use crate::Notification;
use parking_lot::Mutex;
use std::collections::VecDeque;
use tokio::sync::Notify;

/// Bytes of notifications that a session keeps. When a client does not take them, the oldest are dropped.
const BYTES_MAX: usize = 16 << 20;

/// The notifications of one session.
#[derive(Debug, Default)]
pub struct Mailbox {
    received: Mutex<Received>,
    arrival: Notify,
}

#[derive(Debug, Default)]
struct Received {
    all: VecDeque<Notification>,
    bytes: usize,
}

impl Mailbox {
    /// Adds notifications.
    pub(crate) fn put<'a>(&self, new: impl Iterator<Item = &'a Notification>) {
        let mut received = self.received.lock();
        for one in new {
            received.bytes += size(one);
            received.all.push_back(one.clone());
        }
        while received.bytes > BYTES_MAX
            && let Some(oldest) = received.all.pop_front()
        {
            received.bytes -= size(&oldest);
        }
        self.arrival.notify_one();
    }

    /// Takes all notifications, in order.
    pub fn take(&self) -> Vec<Notification> {
        let mut received = self.received.lock();
        received.bytes = 0;
        std::mem::take(&mut received.all).into()
    }

    /// Waits until there are notifications. May return early.
    pub async fn arrived(&self) {
        if self.received.lock().all.is_empty() {
            self.arrival.notified().await;
        }
    }
}

/// The bytes that a notification takes.
fn size(one: &Notification) -> usize {
    one.channel.len() + one.payload.len() + size_of::<Notification>()
}
