//! Errors of calls.

use super::Address;

/// The error that ended a call, classified by what the caller may conclude.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// The call was not delivered: nothing listens at the address, the connection ended before the
    /// call was sent, or the server accepts no more calls.
    #[error("server {address} cannot be reached: {reason}")]
    Unreachable {
        /// Who was called.
        address: Address,
        /// What failed.
        reason: String,
    },
    /// The call was sent, but the connection ended or the deadline passed before the end of its
    /// answers. It is unknown whether the server executed it.
    #[error("the answer of server {address} was lost: {reason}")]
    Lost {
        /// Who was called.
        address: Address,
        /// What happened to the connection.
        reason: String,
    },
    /// The two servers cannot communicate: their certificates or versions do not match, or the
    /// message is too long. The call was not delivered. A retry fails, too, until the configuration
    /// is changed.
    #[error("server {address} and this server cannot communicate: {reason}")]
    Refused {
        /// Who was called.
        address: Address,
        /// What does not match, and how to fix it.
        reason: String,
    },
    /// The server began the call, and its service returned an error or panicked.
    #[error("server {address} failed: {reason}")]
    Failed {
        /// Who was called.
        address: Address,
        /// The error of the service.
        reason: String,
    },
}

impl NetError {
    /// Whether the service has not received the call, so that it can be repeated safely.
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
