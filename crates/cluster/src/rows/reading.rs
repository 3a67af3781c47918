//! The snapshot of another server's transaction on this server.

use crate::node::Node;
use crate::peers::NodePeers;
use crate::transactions::ended;
use messages::{Target, WireReader};
use protocols::planted::{Bug, is_planted};
use sdds::KeyRange;
use std::sync::Arc;
use store::catalog::{Catalog, Table};
use store::{Error, Peers, Reading};

/// What a transaction reads here.
pub(super) async fn reading(
    node: &Arc<Node>,
    reader: &WireReader,
    peers: &NodePeers,
) -> Result<Reading, Error> {
    let peers = Arc::new(peers.clone()) as Arc<dyn Peers>;
    let participants = &node.transactions.participants;
    node.transactions.check_horizon(reader.timestamp)?;
    if is_coordinated_here(node, reader) {
        // The session of the client has the writes of the transaction: it reads local rows itself.
        return Err(Error::NotOwned { range: KeyRange::all() });
    }
    let part = reader.transaction.and_then(|transaction| participants.known(transaction));
    if let Some(part) = part {
        return part.lock().await.reading(reader, peers).await;
    }
    if reader.has_written && !is_planted(Bug::LostWrites) {
        return Err(ended());
    }
    at_snapshot(node, reader, peers).await
}

/// What a fragment of a transaction reads here. The transaction's own server gets one when rows have moved there since the
/// statement began: then it has not written to these rows, because a range with uncommitted changes does not move.
pub(super) async fn reading_of_fragment(
    node: &Arc<Node>,
    reader: &WireReader,
    peers: &NodePeers,
) -> Result<Reading, Error> {
    if !is_coordinated_here(node, reader) {
        return reading(node, reader, peers).await;
    }
    node.transactions.check_horizon(reader.timestamp)?;
    at_snapshot(node, reader, Arc::new(peers.clone())).await
}

fn is_coordinated_here(node: &Node, reader: &WireReader) -> bool {
    reader.transaction.is_some_and(|id| id.coordinator == node.membership.here)
}

/// What a transaction reads that has written no rows here.
async fn at_snapshot(
    node: &Arc<Node>,
    reader: &WireReader,
    peers: Arc<dyn Peers>,
) -> Result<Reading, Error> {
    let snapshot = node.store.snapshot_at(reader.timestamp).await;
    let peers = Some((peers, reader.reader()));
    if reader.changes.is_empty() {
        return Ok(snapshot.reading(peers));
    }
    // Its catalog changes are applied for this request only.
    let mut transaction = node.store.begin_at(snapshot);
    for change in &reader.changes {
        transaction.change_catalog(change.clone()).map_err(Error::of_dropped)?;
    }
    Ok(transaction.reading(peers))
}

/// The table that a request is about.
///
/// # Errors
/// [`Error::SchemaConflict`] if the coordinator has another version of the definition.
pub(super) fn definition(catalog: &Catalog, target: &Target) -> Result<Arc<Table>, Error> {
    match catalog.table_by_id(target.table) {
        Some(table) if table.version == target.version => Ok(Arc::clone(table)),
        Some(table) => Err(Error::SchemaConflict { relation: table.name.clone() }),
        None => Err(Error::SchemaConflict { relation: format!("table {}", target.table.0) }),
    }
}
