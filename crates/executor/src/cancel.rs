//! Cancelling: each statement has a token of its own.

use parking_lot::Mutex;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The token of a session's running statement.
#[derive(Debug, Default, Clone)]
pub struct Cancellation(Arc<Mutex<CancellationToken>>);

/// Cancels the running statement of a session.
#[derive(Debug, Clone)]
pub struct CancelHandle(Cancellation);

impl Cancellation {
    /// A token for a new statement.
    pub fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.0.lock() = token.clone();
        token
    }

    /// Makes the token of an earlier statement the current one.
    pub fn resume(&self, token: CancellationToken) {
        *self.0.lock() = token;
    }

    /// A handle that cancels the running statement, whichever that is.
    pub fn handle(&self) -> CancelHandle {
        CancelHandle(self.clone())
    }
}

impl CancelHandle {
    /// Ends the running statement with 57014. Does nothing if none is running.
    pub fn cancel(&self) {
        self.0.0.lock().cancel();
    }
}
