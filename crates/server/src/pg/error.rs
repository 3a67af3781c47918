//! Errors of the wire protocol: failed messages and the end of connections.

use frontend::ProtocolError;
use query::{Error, SqlState};
use std::io;

/// The result of handling a message: success, an error to report, or the end of the connection.
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

/// The reason why a connection ends.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The client has terminated or disconnected.
    Closed,
    /// An I/O error.
    Io(io::Error),
    /// The error is reported, and the connection is closed.
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
