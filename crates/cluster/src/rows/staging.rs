//! Writes of other servers' transactions that may have to wait for locks: they wait here, at the owner of
//! the rows.
//!
//! Nobody waits with the part of a transaction in hand, so that the coordinator can roll it back. A
//! request that waits looks for deadlocks over all servers every second.

use crate::node::Node;
use crate::peers::granted;
use messages::WireReader;
use std::sync::Arc;
use store::{Error, Transaction, TransactionId};

/// Executes a write in the part of a transaction, again whenever it has waited for a lock.
pub(super) async fn staged<T>(
    node: &Arc<Node>,
    transaction: TransactionId,
    reader: &WireReader,
    step: u64,
    mut work: impl FnMut(&mut Transaction) -> Result<T, Error>,
) -> Result<T, Error> {
    loop {
        let part = node.transactions.participants.part(transaction)?;
        let mut part = part.lock().await;
        let done = part.write(reader, step, &mut work).await;
        let (Err(Error::Locked { .. }), Some(party)) = (&done, reader.locks) else { return done };
        let Some(wait) = part.take_wait().filter(|_| reader.waits) else { return done };
        drop(part);
        granted(node, party, wait).await?;
    }
}
