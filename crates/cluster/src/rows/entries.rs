//! Lookups in indexes, for other servers.

use super::reading::{definition, reading};
use crate::node::Node;
use crate::peers::NodePeers;
use messages::{Adjustment, Reply, RowsAnswer, Target, WireReader};
use sdds::KeyRange;
use std::sync::Arc;
use store::Error;

/// The keys of the rows with the first entries of a range. If this server does not own all of it, the
/// answer names the owners.
pub(super) async fn entries(
    node: &Arc<Node>,
    reader: &WireReader,
    target: &Target,
    range: KeyRange,
    limit: u32,
) -> Reply<RowsAnswer> {
    let peers = NodePeers::serving(node, target.hops);
    let found = match reading(node, reader, &peers).await {
        Ok(reading) => {
            let file = definition(reading.catalog(), target)?;
            let dropped = || Error::SchemaConflict { relation: file.name.clone() };
            let view = reading.table(file.id).ok_or_else(dropped)?;
            view.entries_here(&range, limit as usize)
        }
        Err(error) => Err(error),
    };
    match found {
        Err(Error::NotOwned { .. }) => {
            let owners = peers.view.owners(target.table, &range).await?;
            Ok(RowsAnswer::NotOwned { range, adjustment: Adjustment::of(target.table, 1, owners) })
        }
        found => Ok(RowsAnswer::Keys(found?)),
    }
}
