//! What a failed call means for its caller.

use net::NetError;
use store::Error;

/// A call that did not succeed.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The other server refused, or the request was not delivered: it was not executed.
    NotDone(Error),
    /// The request may have been executed.
    Unknown(Error),
}

impl CallError {
    /// The error of a call to the server of this name.
    pub(crate) fn of(error: NetError, server: &str) -> Self {
        let undelivered = error.is_undelivered();
        let reason = match error {
            NetError::Unreachable { reason, .. }
            | NetError::Lost { reason, .. }
            | NetError::Refused { reason, .. }
            | NetError::Failed { reason, .. } => reason,
        };
        let error = Error::unreachable(server, reason);
        if undelivered { Self::NotDone(error) } else { Self::Unknown(error) }
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::NotDone(error) | CallError::Unknown(error) => error,
        }
    }
}
