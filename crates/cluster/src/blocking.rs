//! Long computations on threads of their own. The runtime of the cluster has few threads; a server
//! that blocks them misses heartbeats and is evicted.

use crate::runtime::Tasks;
use sdds::Timestamp;
use store::{Error, Prepared, Transaction};

/// Rows of at least this many bytes are handled on another thread: the work takes longer than the
/// switch.
pub(crate) const LARGE_BYTES: u64 = 64 << 10;

/// Commits prepared writes, and waits until that is as durable as promised.
///
/// # Errors
/// 58030 if the disk fails: the commit may be lost.
pub(crate) async fn commit(
    tasks: &Tasks,
    prepared: Prepared,
    timestamp: Timestamp,
) -> Result<(), Error> {
    let committed = if prepared.bytes() < LARGE_BYTES {
        prepared.commit(timestamp)
    } else {
        tasks.run(move || prepared.commit(timestamp)).await?
    };
    committed.wait().await
}

/// Prepares a transaction.
pub(crate) async fn prepare(
    tasks: &Tasks,
    transaction: Transaction,
) -> Result<Option<Prepared>, Error> {
    if transaction.bytes() < LARGE_BYTES {
        return transaction.prepare();
    }
    tasks.run(move || transaction.prepare()).await?
}
