//! Writes of other servers.

use super::reading::definition;
use super::staging::staged;
use crate::node::Node;
use crate::routing::View;
use bytes::Bytes;
use messages::{
    Adjustment, Reply, RowsAnswer, Target, WireReader, WireWrite, batches, invalid_message,
};
use sdds::{Bound, Key, KeyRange};
use std::sync::Arc;
use store::catalog::{Table, TableId};
use store::{Error, IndexChanges, Write, Written};

/// Stages rows for a transaction. If this server does not own all of them, nothing is staged, and
/// the answer names the owners.
pub(super) async fn write(
    node: &Arc<Node>,
    reader: &WireReader,
    target: &Target,
    rows: WireWrite,
    step: u64,
) -> Reply<RowsAnswer> {
    let Some(transaction) = reader.transaction else {
        return Err(invalid_message("a write outside of transactions"));
    };
    let write = match rows {
        WireWrite::Insert(rows) => Write::Insert(batches::read(&rows)?),
        WireWrite::Load(rows) => Write::Load(batches::read(&rows)?),
        WireWrite::Upsert(rows) => Write::Upsert(batches::read(&rows)?),
        WireWrite::Delete(keys) => Write::Delete(keys),
        WireWrite::Require(keys) => Write::Require(keys),
    };
    node.transactions.check_horizon(reader.timestamp)?;
    // The transaction may have changed the key of the table.
    let mut defined = None;
    let written = staged(node, transaction, reader, step, |open| {
        let table = definition(open.catalog(), target)?;
        defined = Some(Arc::clone(&table));
        let rows = open.write(&table, write.clone())?;
        Ok(Written { rows, entries: open.take_entries() })
    });
    let written = written.await;
    match written {
        Ok(Written { rows, entries }) => Ok(RowsAnswer::Written { rows, entries }),
        Err(Error::NotOwned { .. }) => {
            let span = span(defined.as_deref(), target.table, &write)?;
            not_owned(node, target, span).await
        }
        Err(error) => Err(error),
    }
}

/// Executes a row operation. If this server does not own the key, nothing is done, and the answer
/// names the owner.
pub(super) async fn row_operation(
    node: &Arc<Node>,
    target: &Target,
    key: Key,
    operation: Bytes,
) -> Reply<RowsAnswer> {
    let range = KeyRange::point(&key);
    definition(&node.store.catalog(), target)?;
    match node.fragments()?.row_operation(key, operation).await {
        Err(Error::NotOwned { .. }) => not_owned(node, target, range).await,
        done => Ok(RowsAnswer::Written { rows: done?, entries: IndexChanges::default() }),
    }
}

pub(super) async fn not_owned(
    node: &Arc<Node>,
    target: &Target,
    range: KeyRange,
) -> Reply<RowsAnswer> {
    let view = View::serving(Arc::clone(&node.routing), target.hops);
    let entries = view.owners(target.table, &range).await?;
    Ok(RowsAnswer::NotOwned { range, adjustment: Adjustment::of(target.table, 1, entries) })
}

/// The smallest range with all keys of a write.
fn span(defined: Option<&Table>, table: TableId, write: &Write) -> Result<KeyRange, Error> {
    let keys = match write {
        Write::Delete(keys) | Write::Require(keys) => keys.clone(),
        Write::Insert(rows) | Write::Load(rows) | Write::Upsert(rows) => {
            let missing = || Error::SchemaConflict { relation: format!("table {}", table.0) };
            store::key::of_rows(defined.ok_or_else(missing)?, rows)?
        }
    };
    let (first, last) = (keys.iter().min(), keys.iter().max());
    let range = first.zip(last).and_then(|(first, last)| {
        KeyRange::new(Bound::At(first.clone()), Bound::At(last.successor()))
    });
    Ok(range.unwrap_or_else(KeyRange::all))
}
