//! Errors of tokens, certificates and keys.

/// An invalid token, certificate or key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The text is not a join token.
    #[error("this is not a join token; copy all of what the first server printed")]
    Token,
    /// Saved bytes are damaged or belong to another release.
    #[error("the saved certificates cannot be read: {0}")]
    Saved(String),
    /// A certificate could not be created, or certificate and key do not match.
    #[error("certificate: {0}")]
    Certificate(String),
}

impl From<rcgen::Error> for TrustError {
    fn from(error: rcgen::Error) -> Self {
        Self::Certificate(error.to_string())
    }
}
