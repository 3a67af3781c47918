//! The key and certificate of one server.

use super::error::TrustError;
use super::{saved, tls};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use tokio_rustls::rustls::{ClientConfig, ServerConfig};

/// The key and certificate of a server, and the certificate of the authority that it trusts.
pub struct Identity {
    saved: Saved,
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) server: Arc<ServerConfig>,
}

#[derive(Serialize, Deserialize)]
struct Saved {
    key: Vec<u8>,
    certificate: Vec<u8>,
    authority: Vec<u8>,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Identity {
    pub(crate) fn new(
        key: Vec<u8>,
        certificate: Vec<u8>,
        authority: Vec<u8>,
    ) -> Result<Self, TrustError> {
        let (client, server) = tls::configs(&key, &certificate, &authority)?;
        Ok(Self { saved: Saved { key, certificate, authority }, client, server })
    }

    /// Decodes the result of [`Identity::to_bytes`].
    ///
    /// # Errors
    /// [`TrustError::Saved`], or [`TrustError::Certificate`] if key and certificates do not match.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, TrustError> {
        let Saved { key, certificate, authority } = saved::decode(bytes)?;
        Self::new(key, certificate, authority)
    }

    /// Encodes key and certificates. The bytes must be saved where nobody else can read them.
    ///
    /// # Errors
    /// [`TrustError::Saved`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, TrustError> {
        saved::encode(&self.saved)
    }
}
