//! What can go wrong.

/// Why a statement has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the server says, or that the connection to it broke: then nobody knows whether a change was made.
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// No server that is known can be connected to; nothing was sent.
    #[error("cannot connect to {server}: {error}")]
    Unreachable {
        /// The one that was tried last.
        server: String,
        /// Why not.
        #[source]
        error: tokio_postgres::Error,
    },
}
