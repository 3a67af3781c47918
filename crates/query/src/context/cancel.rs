//! Cancelling: one token a statement, handed out anew when the next begins.

use parking_lot::Mutex;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The session's place for the running statement's token.
#[derive(Debug, Default, Clone)]
pub(crate) struct Cancellation(Arc<Mutex<CancellationToken>>);

/// Cancels the statement that its session is running, if any.
#[derive(Debug, Clone)]
pub struct CancelHandle(Cancellation);

impl Cancellation {
    /// A token for a statement that begins now.
    pub(crate) fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.0.lock() = token.clone();
        token
    }

    /// A statement that began before goes on.
    pub(crate) fn resume(&self, token: CancellationToken) {
        *self.0.lock() = token;
    }

    pub(crate) fn handle(&self) -> CancelHandle {
        CancelHandle(self.clone())
    }
}

impl CancelHandle {
    /// Ends the running statement with 57014. Does nothing where none is running.
    pub fn cancel(&self) {
        self.0.0.lock().cancel();
    }
}
