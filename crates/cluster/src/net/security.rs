//! Whether traffic between servers is encrypted, and where it need not be.

use super::trust::{Authority, Identity};
use std::net::SocketAddr;
use std::sync::Arc;

/// How servers trust each other.
#[derive(Debug, Clone)]
pub enum Security {
    /// Everybody is believed: only between addresses of one machine (loopback).
    Plain,
    /// TLS, where both sides show certificates of the cluster's authority.
    Mutual {
        /// Who this server is.
        identity: Arc<Identity>,
        /// Signs the certificates of servers that join, where this server may.
        authority: Option<Arc<Authority>>,
    },
}

impl Security {
    /// Whether traffic with an address is allowed.
    ///
    /// # Errors
    /// What to do, if it would be plain and leave the machine.
    pub(super) fn check(&self, address: SocketAddr) -> Result<(), String> {
        match self {
            Self::Mutual { .. } => Ok(()),
            Self::Plain if address.ip().to_canonical().is_loopback() => Ok(()),
            Self::Plain => Err(format!(
                "traffic with {address} would leave this machine unencrypted; give the servers certificates \
                 (join with a token), or use loopback addresses"
            )),
        }
    }
}
