//! Errors in a client's bytes.

/// Invalid or unsupported bytes. The text is for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A message that violates the protocol (08P01).
    #[error("{0}")]
    Violation(String),
    /// An unsupported protocol (0A000).
    #[error("{0}")]
    Unsupported(String),
}

/// A protocol violation with this message.
pub fn violation(message: impl Into<String>) -> ProtocolError {
    ProtocolError::Violation(message.into())
}
