//! The coordinator of a DML pushdown: each owner changes its own rows, and only their number is returned.
//!
//! Every key is sent to one server. A server that no longer owns some of the keys returns them, and their new owners are
//! asked next. The statement is complete when no key is left.

use super::pushdown::{DmlPushdown, open};
use crate::session::Frame;
use futures::TryStreamExt;
use futures::future::{try_join, try_join_all};
use scan::places::{self, Owned};
use sdds::KeyRange;
use store::{Changed, DistributedTransaction, Peers, Reader, Reading};
use values::error::Result;

/// Carries an pushdown out; how many rows it concerned. After an error some may have been changed.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    pushdown: &DmlPushdown,
) -> Result<u64> {
    // What the statement itself writes is not seen.
    let reading = transaction.reading();
    let view = pushdown.elsewhere().view();
    let mut here = pushdown.elsewhere().here().to_vec();
    let mut owners = pushdown.elsewhere().owners().to_vec();
    let mut rows = 0;
    for _ in 0..places::ATTEMPTS {
        let others = transaction.pushdowns_elsewhere();
        let there = others.iter().flat_map(|(peers, reader)| {
            owners.iter().map(move |owned| there(frame, pushdown, (&**peers, reader), owned))
        });
        let there = try_join_all(there.collect::<Vec<_>>());
        let (there, own) =
            try_join(there, carry_out_here(frame, transaction, &reading, pushdown, &here)).await?;
        let mut changed = own;
        there.into_iter().for_each(|theirs| changed.add(theirs));
        rows += changed.rows;
        let mut rest = changed.rest;
        if rest.is_empty() {
            return Ok(rows);
        }
        rest.sort_by(|one, other| one.low.cmp(&other.low));
        (here, owners) = places::owners(view, &rest).await?;
    }
    Err(places::are_moving(view))
}

/// The part of another server.
async fn there(
    frame: &Frame<'_>,
    pushdown: &DmlPushdown,
    (peers, reader): (&dyn Peers, &Reader),
    (owner, ranges): &Owned,
) -> Result<Changed> {
    let bytes = pushdown.to_bytes(ranges, frame).await?;
    let changed = peers.pushdown(reader, pushdown.elsewhere().view().table(), *owner, bytes).await;
    let changed =
        changed.map_err(|error| error.missing(|| pushdown.elsewhere().rows_of(ranges)))?;
    Ok(changed.of(ranges))
}

/// This server's own part.
async fn carry_out_here(
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
        changed.add(transaction.carry_out_here(table, step)?);
    }
    Ok(changed.of(ranges))
}
