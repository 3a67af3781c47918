//! Long computations on threads of their own. The runtime of the cluster has few threads; a server
//! that blocks them misses heartbeats and is evicted.

use crate::messages::invalid_message;
use sdds::Timestamp;
use std::panic::resume_unwind;
use store::{Error, Prepared, Transaction};

/// Rows of at least this many bytes are handled on another thread: the work takes longer than the
/// switch.
pub(crate) const LARGE_BYTES: u64 = 64 << 10;

/// Runs `work` on a thread of its own. Completes even if the caller is dropped.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(invalid_message("the server is stopping")),
        },
    }
}

/// Commits prepared writes, and waits until that is as durable as promised.
///
/// # Errors
/// 58030 if the disk fails: the commit may be lost.
pub(crate) async fn commit(prepared: Prepared, timestamp: Timestamp) -> Result<(), Error> {
    let committed = if prepared.bytes() < LARGE_BYTES {
        prepared.commit(timestamp)
    } else {
        run(move || prepared.commit(timestamp)).await?
    };
    committed.wait().await
}

/// Prepares a transaction.
pub(crate) async fn prepare(transaction: Transaction) -> Result<Option<Prepared>, Error> {
    if transaction.bytes() < LARGE_BYTES {
        return transaction.prepare();
    }
    run(move || transaction.prepare()).await?
}
