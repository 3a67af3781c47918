//! DML pushdowns of other servers' transactions: rows here that are changed by what this server computes from them
//! ([`store::PushdownStep`]).
//!
//! What has been computed is staged batch by batch, as rows that were sent would be: each time, the transaction's part
//! here may have ended or gone back, and then no more is written.

use crate::apart;
use crate::cluster::Inner;
use crate::message::{Adjustment, Answer, Reply, Target, WireReader, garbled};
use crate::service::{definition, fragments, owners, reading, served};
use bytes::Bytes;
use futures::StreamExt;
use sdds::KeyRange;
use std::sync::Arc;
use store::catalog::Table;
use store::{Changed, Error, PushdownStep, TransactionId};

/// So many rows are staged apart: it takes longer than handing them to another thread by far.
const LARGE_ROWS: usize = 256;

/// An pushdown, as one transaction's part here is to stage it.
#[derive(Clone)]
struct Staging {
    inner: Arc<Inner>,
    transaction: TransactionId,
    reader: WireReader,
    table: Arc<Table>,
    step: u64,
}

/// Changes rows that are here, and says which of the keys are not.
pub(crate) async fn answer(
    inner: &Arc<Inner>,
    reader: WireReader,
    target: &Target,
    pushdown: Bytes,
    step: u64,
) -> Reply {
    let Some(transaction) = reader.transaction else {
        return Err(garbled("an pushdown outside of transactions"));
    };
    let view = served(inner, target.hops);
    let reading = reading(inner, &reader, &view).await?;
    let table = definition(reading.catalog(), target)?;
    let staging = Staging { inner: Arc::clone(inner), transaction, reader, table, step };
    let mut steps = fragments(inner)?.pushdown(reading, pushdown);
    let mut changed = Changed::default();
    while let Some(next) = steps.next().await {
        changed.add(staging.stage(next?).await?);
    }
    let Changed { rows, rest } = changed;
    let adjustment = match span(&rest) {
        Some(span) => Adjustment::of(target.table, 1, owners(&view, target.table, &span).await?),
        None => Adjustment::default(),
    };
    Ok(Answer::Changed { rows, rest, adjustment })
}

impl Staging {
    async fn stage(&self, step: PushdownStep) -> Result<Changed, Error> {
        let rows = match &step {
            PushdownStep::NotHere(rest) => return Ok(Changed { rows: 0, rest: rest.clone() }),
            PushdownStep::Write(write) if write.is_empty() => return Ok(Changed::default()),
            PushdownStep::Write(write) => write.len(),
        };
        let (staging, runtime) = (self.clone(), self.inner.runtime.clone());
        let staged = async move { staging.write(step).await };
        match rows < LARGE_ROWS {
            true => staged.await,
            false => apart::run(move || runtime.block_on(staged)).await?,
        }
    }

    async fn write(&self, step: PushdownStep) -> Result<Changed, Error> {
        let part = self.inner.participants.part(self.transaction)?;
        let mut part = part.lock().await;
        let work = |open: &mut store::Transaction| open.carry_out(&self.table, step);
        part.write(&self.inner.store, &self.reader, self.step, work).await
    }
}

/// The stretch of keys that ranges are in.
fn span(ranges: &[KeyRange]) -> Option<KeyRange> {
    let low = ranges.iter().map(|range| &range.low).min()?;
    let high = ranges.iter().map(|range| &range.high).max()?;
    KeyRange::new(low.clone(), high.clone())
}
