//! Ctrl-C: the server is asked to cancel, and given up on where it does not listen.

use crate::remote::{Address, Key};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// What cancels the running statement.
pub(super) struct Cancelling {
    address: Address,
    key: Mutex<Option<Key>>,
    /// The server has been asked already.
    asked: AtomicBool,
    evicted: Notify,
}

impl Cancelling {
    pub(super) fn new(address: Address) -> Self {
        let (asked, evicted) = (AtomicBool::new(false), Notify::new());
        Self { address, key: Mutex::new(None), asked, evicted }
    }

    /// From now on statements are those of another session, or of none.
    pub(super) fn set_key(&self, key: Option<Key>) {
        *self.key.lock().unwrap_or_else(PoisonError::into_inner) = key;
    }

    /// A statement begins.
    pub(super) fn begin(&self) {
        self.asked.store(false, Ordering::SeqCst);
    }

    /// Asks the server to end the statement; the second time, or without a server, the connection is given up.
    pub(super) fn cancel(&self) {
        let key = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let again = self.asked.swap(true, Ordering::SeqCst);
        match key {
            Some(key) if !again => {
                let address = self.address.clone();
                tokio::spawn(async move {
                    if let Err(error) = key.cancel(&address).await {
                        eprintln!("WARNING: the statement cannot be cancelled: {error:#}");
                    }
                });
            }
            _ => self.evicted.notify_waiters(),
        }
    }

    /// What comes, unless somebody does not want to wait for it any longer.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            outcome = work => Some(outcome),
            () = self.evicted.notified() => None,
        }
    }
}
