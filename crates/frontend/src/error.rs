//! What is wrong with a client's bytes.

/// Bytes that are no message, or none that is understood. The text is for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// A message that does not follow the protocol (08P01).
    #[error("{0}")]
    Violation(String),
    /// A protocol that is not spoken here (0A000).
    #[error("{0}")]
    Unsupported(String),
}

/// A message that does not follow the protocol, in words.
pub fn violation(message: impl Into<String>) -> ProtocolError {
    ProtocolError::Violation(message.into())
}
