//! The token with which a server joins a cluster.

use super::error::TrustError;
use super::fingerprint::FINGERPRINT_BYTES;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use std::str::FromStr;

/// Length of the secret of a cluster.
pub(crate) const SECRET_BYTES: usize = 32;

/// The secret of a cluster and the fingerprint of its authority. Any holder can join the cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct JoinToken {
    pub(crate) secret: [u8; SECRET_BYTES],
    pub(crate) fingerprint: [u8; FINGERPRINT_BYTES],
}

impl fmt::Display for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode([self.secret, self.fingerprint].concat()))
    }
}

impl fmt::Debug for JoinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinToken").finish_non_exhaustive()
    }
}

impl FromStr for JoinToken {
    type Err = TrustError;

    fn from_str(text: &str) -> Result<Self, TrustError> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_| TrustError::Token)?;
        let (secret, fingerprint) =
            bytes.split_at_checked(SECRET_BYTES).ok_or(TrustError::Token)?;
        Ok(Self {
            secret: secret.try_into().map_err(|_| TrustError::Token)?,
            fingerprint: fingerprint.try_into().map_err(|_| TrustError::Token)?,
        })
    }
}
