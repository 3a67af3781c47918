//! Whether traffic between servers is encrypted.

use crate::trust::{Authority, Identity};
use std::net::SocketAddr;
use std::sync::Arc;

/// How servers authenticate each other.
#[derive(Debug, Clone)]
pub enum Security {
    /// No authentication and no encryption: allowed between loopback addresses only.
    Plain,
    /// TLS; both sides show certificates of the cluster's authority.
    Mutual {
        /// The identity of this server.
        identity: Arc<Identity>,
        /// Signs the certificates of joining servers; `None` if this server may not sign.
        authority: Option<Arc<Authority>>,
    },
}

impl Security {
    /// Checks that traffic with an address is allowed.
    ///
    /// # Errors
    /// Plain traffic would leave the machine; the text says how to enable encryption.
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
