//! The error for wrong bytes of another server.

use values::{Error, SqlState};

/// The error for bytes of another server that violate the protocol: 08P01.
pub fn out_of_range(message: &str) -> Error {
    Error::new(SqlState::ProtocolViolation, message)
}
