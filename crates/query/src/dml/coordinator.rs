//! The coordinator of a DML pushdown: each owner changes its own rows, and only their number is
//! returned.
//!
//! Every key is sent to one server. A server that no longer owns some of the keys returns them, and
//! they are sent to their new owners. The statement is complete when no key is left.

use super::pushdown::{DmlPushdown, open};
use crate::context::Frame;
use futures::TryStreamExt;
use futures::future::{try_join, try_join_all};
use scan::places;
use sdds::{GroupId, KeyRange};
use std::time::Duration;
use store::{Changed, DistributedTransaction, IndexChanges, Reader, Reading, RowPeers};
use values::error::Result;

/// Executes a pushdown and returns the number of changed rows. After an error, some rows may have
/// been changed.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    pushdown: &DmlPushdown,
) -> Result<u64> {
    // The statement does not see its own writes.
    let reading = transaction.reading();
    let patience = transaction.patience();
    transaction.choose_elsewhere();
    let view = pushdown.elsewhere().view();
    let mut here = pushdown.elsewhere().here().to_vec();
    let mut owners = pushdown.elsewhere().owners().to_vec();
    let (mut rows, mut entries) = (0, IndexChanges::default());
    for _ in 0..places::ATTEMPTS {
        let others = transaction.pushdowns_elsewhere();
        let remote = others.iter().flat_map(|(peers, reader)| {
            owners.iter().map(move |(owner, ranges)| {
                remote_part(frame, pushdown, &**peers, reader, (*owner, ranges), patience)
            })
        });
        let remote = try_join_all(remote.collect::<Vec<_>>());
        let local = local_part(frame, transaction, &reading, pushdown, &here);
        let (remote, mut changed) = try_join(remote, local).await?;
        remote.into_iter().for_each(|theirs| changed.add(theirs));
        rows += changed.rows;
        entries.add(changed.entries);
        let mut rest = changed.rest;
        if rest.is_empty() {
            transaction.write_entries(entries).await?;
            return Ok(rows);
        }
        rest.sort_by(|one, other| one.low.cmp(&other.low));
        (here, owners) = places::owners(view, &rest).await?;
    }
    Err(places::are_moving(view))
}

/// The part of another server.
async fn remote_part(
    frame: &Frame<'_>,
    pushdown: &DmlPushdown,
    peers: &dyn RowPeers,
    reader: &Reader,
    (owner, ranges): (GroupId, &[KeyRange]),
    patience: Option<Duration>,
) -> Result<Changed> {
    let bytes = pushdown.to_bytes(ranges, frame).await?;
    let asked = peers.pushdown(reader, pushdown.elsewhere().view().table(), owner, bytes);
    let changed = store::within(patience, asked).await;
    let changed =
        changed.map_err(|error| error.missing(|| pushdown.elsewhere().rows_of(ranges)))?;
    Ok(changed.of(ranges))
}

/// This server's own part.
async fn local_part(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    reading: &Reading,
    pushdown: &DmlPushdown,
    ranges: &[KeyRange],
) -> Result<Changed> {
    let mut changed = Changed::default();
    if ranges.is_empty() {
        return Ok(changed);
    }
    let bytes = pushdown.to_bytes(ranges, frame).await?;
    let mut steps = open(&frame.session.shared.node, reading, &bytes).await?;
    while let Some(step) = steps.try_next().await? {
        let table = pushdown.elsewhere().view().table().id;
        changed.add(transaction.carry_out_here(table, step).await?);
    }
    Ok(changed.of(ranges))
}
