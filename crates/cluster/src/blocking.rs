//! Work that takes long between two points of waiting, done on a thread of its own: the runtime of the cluster has few threads,
//! and what they cannot come to meanwhile are heartbeats. A server whose heartbeats do not go out is given up.

use crate::messages::garbled;
use sdds::Timestamp;
use std::panic::resume_unwind;
use store::{Error, Prepared, Transaction};

/// Rows of so many bytes are worked on apart: what takes longer than handing it to another thread by far.
pub(crate) const LARGE_BYTES: u64 = 64 << 10;

/// Does something on a thread of its own. It goes on when nobody waits for it any more.
pub(crate) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(garbled("the server is stopping")),
        },
    }
}

/// Makes writes visible.
pub(crate) async fn commit(prepared: Prepared, timestamp: Timestamp) {
    if prepared.bytes() < LARGE_BYTES {
        return prepared.commit(timestamp);
    }
    let _ = run(move || prepared.commit(timestamp)).await;
}

/// Gets writes ready to be committed.
pub(crate) async fn prepare(transaction: Transaction) -> Result<Option<Prepared>, Error> {
    if transaction.bytes() < LARGE_BYTES {
        return transaction.prepare();
    }
    run(move || transaction.prepare()).await?
}
