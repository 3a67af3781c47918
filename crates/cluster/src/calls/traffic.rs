//! Counters of messages: requests and answers with their encoded bytes, before frames and
//! encryption.
//!
//! Heartbeats and reports are not counted, so that the counters show the cost of statements and
//! moves.

use bytes::Bytes;
use futures::StreamExt;
use messages::is_background;
use net::{Address, Answers, Delivery, Network};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{MessageCount, Traffic};

/// Messages in one direction.
#[derive(Debug, Default)]
pub(crate) struct Way {
    messages: AtomicU64,
    bytes: AtomicU64,
}

/// Messages since the start of the server.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) sent: Way,
    pub(crate) received: Way,
}

impl Way {
    /// Counts a message.
    pub(crate) fn count(&self, message: &Bytes) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
    }

    fn count_so_far(&self) -> MessageCount {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        MessageCount { messages: read(&self.messages), bytes: read(&self.bytes) }
    }
}

impl Counters {
    /// The current values.
    pub(crate) fn traffic(&self) -> Traffic {
        Traffic { sent: self.sent.count_so_far(), received: self.received.count_so_far() }
    }
}

/// A network that counts messages. Requests count when they are made, answers when they are read.
#[derive(Debug)]
pub(crate) struct CountingNetwork {
    network: Arc<dyn Network>,
    /// Messages over this network, and of this server's service.
    pub(crate) counters: Arc<Counters>,
}

impl CountingNetwork {
    pub(crate) fn new(network: Arc<dyn Network>) -> Self {
        Self { network, counters: Arc::default() }
    }
}

impl Network for CountingNetwork {
    fn call(
        &self,
        to: &Address,
        request: Bytes,
        deadline: Duration,
        delivery: Delivery,
    ) -> Answers {
        if is_background(&request) {
            return self.network.call(to, request, deadline, delivery);
        }
        self.counters.sent.count(&request);
        let counters = Arc::clone(&self.counters);
        let count = move |answer: &Result<Bytes, _>| {
            if let Ok(answer) = answer {
                counters.received.count(answer);
            }
        };
        self.network.call(to, request, deadline, delivery).inspect(count).boxed()
    }
}
