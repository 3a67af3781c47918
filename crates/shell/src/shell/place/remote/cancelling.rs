//! Ctrl-C on a server: sends a cancel request, and abandons the connection if the server does not react.

use crate::protocol::{Address, Key};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Cancels the running statement.
pub(super) struct Cancelling {
    address: Address,
    key: Mutex<Option<Key>>,
    /// Whether a cancel request was sent for the running statement.
    is_requested: AtomicBool,
    abandoned: Notify,
}

impl Cancelling {
    pub(super) fn new(address: Address) -> Self {
        let (is_requested, abandoned) = (AtomicBool::new(false), Notify::new());
        Self { address, key: Mutex::new(None), is_requested, abandoned }
    }

    /// Sets the key of the current session, or none.
    pub(super) fn set_key(&self, key: Option<Key>) {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = key;
    }

    /// Notes that a statement starts.
    pub(super) fn begin(&self) {
        self.is_requested.store(false, Ordering::SeqCst);
    }

    /// Sends a cancel request. The second call, or a call without a key, abandons the connection instead.
    pub(super) fn cancel(&self) {
        let key = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let again = self.is_requested.swap(true, Ordering::SeqCst);
        match key {
            Some(key) if !again => {
                let address = self.address.clone();
                tokio::spawn(async move {
                    if let Err(error) = key.cancel(&address).await {
                        eprintln!("WARNING: the statement cannot be cancelled: {error:#}");
                    }
                });
            }
            _ => self.abandoned.notify_waiters(),
        }
    }

    /// The outcome of `work`; `None` if the connection is abandoned first.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            outcome = work => Some(outcome),
            () = self.abandoned.notified() => None,
        }
    }
}
