//! Locks for the transactions of other servers: writes wait here, at the owner of the rows.
//!
//! Nobody waits with the part of a transaction in hand, so that the coordinator can roll it back. A
//! request that waits looks for deadlocks over all servers every second.

use super::reading::definition;
use super::write::not_owned;
use crate::messages::{Answer, Reply, Target, WireReader, invalid_message};
use crate::node::Node;
use crate::peers::NodePeers;
use futures::future::{Either, select};
use sdds::{Bound, KeyRange};
use std::pin::pin;
use std::sync::Arc;
use store::locks::Party;
use store::{
    DEADLOCK_PAUSE, Error, LockWait, Peers, RowLocks, Transaction, TransactionId, refuse_deadlock,
};

/// Executes a write in the part of a transaction, again whenever it has waited for a lock.
pub(super) async fn staged<T>(
    node: &Arc<Node>,
    transaction: TransactionId,
    reader: &WireReader,
    step: u64,
    mut work: impl FnMut(&mut Transaction) -> Result<T, Error>,
) -> Result<T, Error> {
    let tasks = &node.calls.tasks;
    loop {
        let part = node.transactions.participants.part(transaction, tasks.now())?;
        let mut part = part.lock().await;
        let done = part.write(tasks, &node.store, reader, step, &mut work).await;
        let (Err(Error::Locked { .. }), Some(party)) = (&done, reader.locks) else { return done };
        let Some(wait) = part.take_wait() else { return done };
        drop(part);
        granted(node, party, wait).await?;
    }
}

async fn granted(node: &Arc<Node>, party: Party, wait: LockWait) -> Result<(), Error> {
    let mut granted = pin!(wait.granted(None));
    loop {
        match select(granted, node.calls.tasks.sleep(DEADLOCK_PAUSE)).await {
            Either::Left((done, _)) => return done,
            Either::Right(((), still)) => granted = still,
        }
        let mut edges = node.store.waits();
        edges.extend(NodePeers::coordinating(node).waits().await);
        refuse_deadlock(&edges, party)?;
    }
}

/// Locks rows of this server for a query. If it does not own all of them, none is locked, and the answer
/// names the owners.
pub(super) async fn lock(
    node: &Arc<Node>,
    reader: &WireReader,
    target: &Target,
    rows: &RowLocks,
    step: u64,
) -> Reply {
    let Some(transaction) = reader.transaction else {
        return Err(invalid_message("a lock outside of transactions"));
    };
    node.transactions.check_horizon(reader.timestamp)?;
    let locked = staged(node, transaction, reader, step, |open| {
        definition(open.catalog(), target)?;
        open.lock_selected(target.table, rows)
    });
    match locked.await {
        Err(Error::NotOwned { .. }) => {
            let (first, last) = (rows.keys.iter().min(), rows.keys.iter().max());
            let span = first.zip(last).and_then(|(first, last)| {
                KeyRange::new(Bound::At(first.clone()), Bound::At(last.successor()))
            });
            not_owned(node, target, span.unwrap_or_else(KeyRange::all)).await
        }
        locked => Ok(Answer::Locked(locked?)),
    }
}
