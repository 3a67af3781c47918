//! The address of a server.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The address of a server: `host:port`, or a name within one process ([`super::local`]).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Address(String);

impl Address {
    /// An address, which is not validated or resolved.
    pub fn new(address: impl Into<String>) -> Self {
        Self(address.into())
    }

    /// The text of the address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Address {
    fn from(address: &str) -> Self {
        Self::new(address)
    }
}

impl From<std::net::SocketAddr> for Address {
    fn from(address: std::net::SocketAddr) -> Self {
        Self::new(address.to_string())
    }
}
