//! Errors of the wire: what ends a message, what ends a connection, and how a client is told.

use query::{Error, SqlState};
use std::io;

/// Why a connection ends.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The client said goodbye or has gone.
    Closed,
    /// Reading or writing failed.
    Io(io::Error),
    /// The client is told, and the connection is closed.
    Fatal(Error),
}

/// A message that does not follow the protocol.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProtocolError(pub(crate) String);

/// A message that does not follow the protocol, in words.
pub(crate) fn violation(message: impl Into<String>) -> ProtocolError {
    ProtocolError(message.into())
}

impl From<ProtocolError> for Ending {
    fn from(error: ProtocolError) -> Self {
        Self::Fatal(error.into())
    }
}

impl From<ProtocolError> for Error {
    fn from(ProtocolError(message): ProtocolError) -> Self {
        Self::new(SqlState::ProtocolViolation, message)
    }
}

impl From<io::Error> for Ending {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Io(error),
        }
    }
}
