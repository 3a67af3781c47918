//! Errors of the wire: what ends a message, what ends a connection, and how a client is told.

use frontend::ProtocolError;
use query::{Error, SqlState};
use std::io;

/// What was asked is answered, or has failed; or the connection ends.
pub(crate) type Answer<T = ()> = Result<Result<T, Error>, Ending>;

macro_rules! attempt {
    ($result:expr) => {
        match $result {
            Ok(value) => value,
            Err(error) => return Ok(Err(error)),
        }
    };
}
pub(crate) use attempt;

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

impl From<ProtocolError> for Ending {
    fn from(error: ProtocolError) -> Self {
        let state = match error {
            ProtocolError::Violation(_) => SqlState::ProtocolViolation,
            ProtocolError::Unsupported(_) => SqlState::FeatureNotSupported,
        };
        Self::Fatal(Error::new(state, error.to_string()))
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
