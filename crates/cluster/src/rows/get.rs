//! Rows by key, for other servers.

use super::reading::{definition, reading};
use crate::node::Node;
use crate::peers::{Found, NodePeers};
use messages::{Adjustment, Reply, RowsAnswer, Target, WireReader, batches, invalid_message};
use protocols::planted::{Bug, is_planted};
use protocols::routing::ADJUSTMENT_ENTRIES;
use sdds::directory::Entry;
use sdds::{Key, KeyRange};
use std::sync::Arc;
use store::Error;
use store::catalog::{Table, TableId};

/// Rows at a transaction's snapshot.
pub(super) async fn get(
    node: &Arc<Node>,
    reader: &WireReader,
    target: &Target,
    keys: &[Key],
    columns: &[u32],
) -> Reply<RowsAnswer> {
    let peers = NodePeers::serving(node, target.hops);
    let reading = reading(node, reader, &peers).await?;
    let table = definition(reading.catalog(), target)?;
    let columns = columns_of(&table, columns)?;
    let dropped = || Error::SchemaConflict { relation: table.name.clone() };
    let rows = reading.table(table.id).ok_or_else(dropped)?;
    let trusts = is_planted(Bug::StalePageTrusted);
    let is_here = |key| rows.owns(&KeyRange::point(key));
    if trusts && !keys.iter().all(is_here) {
        return found_rows(Ok(Found::default()), adjustment(&peers, table.id, keys));
    }
    let found = rows.find_many(keys, &columns).await;
    found_rows(found, adjustment(&peers, table.id, keys))
}

/// The newest version of a row. Another owner is asked for it.
pub(super) async fn newest(
    node: &Arc<Node>,
    target: &Target,
    key: Key,
    columns: &[u32],
) -> Reply<RowsAnswer> {
    let peers = NodePeers::serving(node, target.hops);
    let table = definition(&node.store.catalog(), target)?;
    let columns = columns_of(&table, columns)?;
    let row = node.store.find_newest(&peers, &table, &key, &columns).await;
    let found = row.map(|row| row.map_or_else(Default::default, |values| (values, vec![0])));
    found_rows(found, adjustment(&peers, table.id, &[key]))
}

fn columns_of(table: &Table, columns: &[u32]) -> Result<Vec<usize>, Error> {
    let columns: Vec<usize> = columns.iter().map(|column| *column as usize).collect();
    if columns.iter().all(|column| *column < table.columns.len()) {
        Ok(columns)
    } else {
        Err(invalid_message("a column that the table does not have"))
    }
}

fn found_rows(found: Result<Found, Error>, adjustment: Adjustment) -> Reply<RowsAnswer> {
    let (values, positions) = match found {
        Err(Error::NotOwned { range } | Error::Astray { range }) => {
            return Ok(RowsAnswer::NotOwned { range, adjustment });
        }
        found => found?,
    };
    let positions: Vec<u32> = positions.into_iter().map(|position| position as u32).collect();
    let rows = if positions.is_empty() {
        None
    } else {
        Some(batches::write(&batches::of_columns(values, positions.len())?)?.into())
    };
    Ok(RowsAnswer::Found { rows, positions, adjustment })
}

/// What the sender of a request for keys can learn: nothing if the request came to the owner
/// directly.
fn adjustment(peers: &NodePeers, table: TableId, keys: &[Key]) -> Adjustment {
    let view = &peers.view;
    let mut found = view.take_adjustment();
    if view.hops > 1
        && let Ok(file) = view.routing.files.by_id(table)
    {
        let own = keys.iter().flat_map(|key| file.own(&KeyRange::point(key)));
        let mut own: Vec<Entry> = own.collect();
        own.sort_by(|a, b| a.range.low.cmp(&b.range.low));
        own.dedup();
        own.truncate(ADJUSTMENT_ENTRIES);
        found.entries.extend(own.into_iter().map(|entry| (table, entry)));
    }
    found
}
