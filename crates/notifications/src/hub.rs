//! The sessions of a server that listen.

use crate::{Listening, Mailbox, Notification};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The channels that the sessions of a server listen to.
#[derive(Debug, Default)]
pub struct Hub(Mutex<BTreeMap<u32, Listener>>);

#[derive(Debug)]
struct Listener {
    mailbox: Arc<Mailbox>,
    channels: BTreeSet<String>,
}

impl Hub {
    /// Changes what a session listens to.
    pub fn listen(&self, process: u32, mailbox: &Arc<Mailbox>, changes: &[Listening]) {
        let mut all = self.0.lock();
        for change in changes {
            match change {
                Listening::Begin(channel) => {
                    let listener = all.entry(process).or_insert_with(|| Listener {
                        mailbox: Arc::clone(mailbox),
                        channels: BTreeSet::new(),
                    });
                    listener.channels.insert(channel.clone());
                }
                Listening::End(channel) => {
                    if let Some(listener) = all.get_mut(&process) {
                        listener.channels.remove(channel);
                    }
                }
                Listening::EndAll => {
                    all.remove(&process);
                }
            }
        }
    }

    /// The channels that a session listens to, ordered by name.
    pub fn channels(&self, process: u32) -> Vec<String> {
        let all = self.0.lock();
        all.get(&process).map_or_else(Vec::new, |known| known.channels.iter().cloned().collect())
    }

    /// Gives notifications of one transaction to the sessions that listen.
    pub fn publish(&self, notifications: &[Notification]) {
        for listener in self.0.lock().values() {
            let mut heard = notifications
                .iter()
                .filter(|one| listener.channels.contains(&one.channel))
                .peekable();
            if heard.peek().is_some() {
                listener.mailbox.put(heard);
            }
        }
    }
}
