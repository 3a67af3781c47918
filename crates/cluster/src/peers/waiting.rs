//! Waiting for locks of this server, for sessions of any server.

use super::NodePeers;
use crate::node::Node;
use futures::future::{Either, select};
use std::pin::pin;
use std::sync::Arc;
use store::locks::Party;
use store::{DEADLOCK_PAUSE, Error, LockWait, TransactionPeers, refuse_deadlock};

/// Waits for a lock, and looks for deadlocks over all servers meanwhile.
pub(crate) async fn granted(node: &Arc<Node>, party: Party, wait: LockWait) -> Result<(), Error> {
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
