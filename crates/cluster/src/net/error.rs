//! What can happen to a call.

use super::Address;

/// What ended a call, by what its caller may conclude.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// The call was certainly not delivered: nobody listens there, the connection had ended before it was sent, or
    /// the server takes no more calls.
    #[error("server {address} cannot be reached: {reason}")]
    Unreachable {
        /// Who was called.
        address: Address,
        /// What was tried, and what came of it.
        reason: String,
    },
    /// The call was sent, but the connection ended or the deadline passed before the end of its answers: whether the
    /// server has done it is not known.
    #[error("the answer of server {address} was lost: {reason}")]
    Lost {
        /// Who was called.
        address: Address,
        /// What happened to the connection.
        reason: String,
    },
    /// The two servers do not talk to each other: their certificates or their versions do not fit, or the message
    /// is too long. The call was not delivered, and will not be until somebody changes something.
    #[error("server {address} and this one do not talk: {reason}")]
    Refused {
        /// Who was called.
        address: Address,
        /// What does not fit, and what to do.
        reason: String,
    },
    /// The server began the call, and it went wrong there: its service ended it with an error, or panicked.
    #[error("server {address} failed: {reason}")]
    Failed {
        /// Who was called.
        address: Address,
        /// What it said.
        reason: String,
    },
}

impl NetError {
    /// Whether the service has certainly not seen the call, so that it can be repeated without harm.
    pub fn is_undelivered(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Refused { .. } => true,
            Self::Lost { .. } | Self::Failed { .. } => false,
        }
    }

    pub(super) fn unreachable(address: &Address, reason: impl ToString) -> Self {
        Self::Unreachable { address: address.clone(), reason: reason.to_string() }
    }

    pub(super) fn lost(address: &Address, reason: impl ToString) -> Self {
        Self::Lost { address: address.clone(), reason: reason.to_string() }
    }

    pub(super) fn refused(address: &Address, reason: impl ToString) -> Self {
        Self::Refused { address: address.clone(), reason: reason.to_string() }
    }

    pub(super) fn failed(address: &Address, reason: impl ToString) -> Self {
        Self::Failed { address: address.clone(), reason: reason.to_string() }
    }
}
