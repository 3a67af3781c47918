//! DML pushdowns of other servers' transactions: this server computes the new rows itself
//! ([`store::PushdownStep`]).
//!
//! Computed rows are staged batch by batch, as received rows are: before each batch the transaction
//! may have ended here or been rolled back to a savepoint, and then nothing more is written.

use super::reading::{definition, reading};
use super::staging::staged;
use crate::node::Node;
use crate::peers::NodePeers;
use bytes::Bytes;
use futures::StreamExt;
use messages::{Adjustment, Reply, RowsAnswer, Target, WireReader, invalid_message};
use sdds::KeyRange;
use std::sync::Arc;
use store::catalog::Table;
use store::{Changed, Error, PushdownStep, TransactionId};

/// Batches of at least this many rows are staged on another thread: staging takes longer than the
/// switch.
const LARGE_ROWS: usize = 256;

/// A DML pushdown, as one transaction's part on this server stages it.
#[derive(Clone)]
struct Staging {
    node: Arc<Node>,
    transaction: TransactionId,
    reader: WireReader,
    table: Arc<Table>,
    step: u64,
}

/// Changes rows of this server. The answer names the keys that it does not own.
pub(super) async fn answer(
    node: &Arc<Node>,
    reader: WireReader,
    target: &Target,
    pushdown: Bytes,
    step: u64,
) -> Reply<RowsAnswer> {
    let Some(transaction) = reader.transaction else {
        return Err(invalid_message("a DML pushdown outside of transactions"));
    };
    let peers = NodePeers::serving(node, target.hops);
    let reading = reading(node, &reader, &peers).await?;
    let table = definition(reading.catalog(), target)?;
    let staging = Staging { node: Arc::clone(node), transaction, reader, table, step };
    let mut steps = node.fragments()?.pushdown(reading, pushdown);
    let mut changed = Changed::default();
    while let Some(next) = steps.next().await {
        changed.add(staging.stage(next?).await?);
    }
    let Changed { rows, rest, entries } = changed;
    let adjustment = match span(&rest) {
        Some(span) => {
            let owners = peers.view.owners(target.table, &span).await?;
            Adjustment::of(target.table, 1, owners)
        }
        None => Adjustment::default(),
    };
    Ok(RowsAnswer::Changed { rows, rest, entries, adjustment })
}

impl Staging {
    async fn stage(&self, step: PushdownStep) -> Result<Changed, Error> {
        let rows = match &step {
            PushdownStep::NotHere(rest) => {
                return Ok(Changed { rest: rest.clone(), ..Changed::default() });
            }
            PushdownStep::Write(write) if write.is_empty() => return Ok(Changed::default()),
            PushdownStep::Write(write) => write.len(),
        };
        let staging = self.clone();
        let staged = async move { staging.write(step).await };
        if rows < LARGE_ROWS {
            staged.await
        } else {
            self.node.calls.tasks.run_apart(staged).await?
        }
    }

    async fn write(&self, step: PushdownStep) -> Result<Changed, Error> {
        let work = |open: &mut store::Transaction| open.carry_out(&self.table, step.clone());
        staged(&self.node, self.transaction, &self.reader, self.step, work).await
    }
}

/// The smallest range that contains all ranges.
fn span(ranges: &[KeyRange]) -> Option<KeyRange> {
    let low = ranges.iter().map(|range| &range.low).min()?;
    let high = ranges.iter().map(|range| &range.high).max()?;
    KeyRange::new(low.clone(), high.clone())
}
