//! Errors that several modules report.

use values::{Error, SqlState};

/// The error of a statement that needs a cluster, on a server without one: 55000.
pub fn not_in_cluster() -> Error {
    Error::new(SqlState::ObjectNotInPrerequisiteState, "this server is part of no cluster")
        .with_hint("Start servers with --cluster HOST:PORT, and others with --join.")
}
