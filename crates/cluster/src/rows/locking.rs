//! Locks that queries of other servers' transactions ask for.

use super::reading::definition;
use super::staging::staged;
use super::write::not_owned;
use crate::node::Node;
use messages::{Reply, RowsAnswer, Target, WireReader, invalid_message};
use sdds::{Bound, KeyRange};
use std::sync::Arc;
use store::{Error, RowLocks};

/// Locks rows of this server for a query. If it does not own all of them, none is locked, and the answer
/// names the owners.
pub(super) async fn lock(
    node: &Arc<Node>,
    reader: &WireReader,
    target: &Target,
    rows: &RowLocks,
    step: u64,
) -> Reply<RowsAnswer> {
    let Some(transaction) = reader.transaction else {
        return Err(invalid_message("a lock outside of transactions"));
    };
    node.transactions.check_horizon(reader.timestamp)?;
    let locked = staged(node, transaction, reader, step, |open| {
        match definition(open.catalog(), target) {
            // The transaction has changed the table: it has the lock.
            Err(_) if rows.keys.is_empty() && open.change_count() > 0 => Ok(Vec::new()),
            defined => {
                defined?;
                open.lock_selected(target.table, rows)
            }
        }
    });
    match locked.await {
        Err(Error::NotOwned { .. }) => {
            let (first, last) = (rows.keys.iter().min(), rows.keys.iter().max());
            let span = first.zip(last).and_then(|(first, last)| {
                KeyRange::new(Bound::At(first.clone()), Bound::At(last.successor()))
            });
            not_owned(node, target, span.unwrap_or_else(KeyRange::all)).await
        }
        locked => Ok(RowsAnswer::Locked(locked?)),
    }
}
