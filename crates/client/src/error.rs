//! Errors of the client.

/// The reason why a statement has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the server or a broken connection. After the latter it is unknown whether a
    /// change was made.
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// No known server is reachable; nothing was sent.
    #[error("cannot connect to {server}: {error}")]
    Unreachable {
        /// The server that was tried last.
        server: String,
        /// The reason.
        #[source]
        error: tokio_postgres::Error,
    },
}
