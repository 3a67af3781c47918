//! Running the fragments of other servers.
//!
//! Bytes from the network are not trusted: wrong bytes are an error, also where the engine would
//! panic. A server that no longer owns some of the keys takes their rows from the present owners,
//! so that the result is complete.

mod exchanges;
mod metrics;
mod scans;
mod storing;

pub(crate) use scans::found;

use crate::boundary::{Results, Stored};
use crate::exchange::Exchanges;
use crate::metrics::Measuring;
use crate::remote::{order_of, with_others};
use crate::wire::fragment::{Fragment, Input};
use datafusion::arrow::array::RecordBatch;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::physical_plan::execute_stream;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use executor::stoppable;
use futures::TryStreamExt;
use futures::future::try_join_all;
use std::sync::Arc;
use std::time::Instant;
use store::Reading;
use tokio::sync::mpsc;
use values::Result;

/// A channel for the answers to another server.
pub type Sender<T> = mpsc::Sender<std::result::Result<T, store::Error>>;

/// The state of a server that runs plan fragments of others.
#[derive(Debug)]
pub struct Node {
    /// The engine, with all functions.
    engine: SessionState,
    /// The exchanges that are open on this server.
    pub exchanges: Arc<Exchanges>,
    /// The rows that are stored on this server for statements of others.
    pub results: Arc<Results>,
}

impl Node {
    /// A server with an engine whose plans use the same exchanges.
    pub fn new(engine: SessionState, exchanges: Arc<Exchanges>) -> Self {
        Self { engine, exchanges, results: Arc::default() }
    }

    /// A context for running plans of other servers.
    pub fn task_context(&self) -> Arc<TaskContext> {
        self.engine.task_ctx()
    }

    /// Runs a fragment that another server has sent, on the rows of `reading`, and sends its output
    /// to `batches`.
    ///
    /// # Errors
    /// 08P01 if the bytes are no fragment; those of the plan.
    pub async fn run(
        &self,
        reading: &Reading,
        fragment: &[u8],
        batches: &Sender<RecordBatch>,
    ) -> Result<()> {
        let arrival = Instant::now();
        let mut context = self.task_context();
        let fragment = Fragment::from_bytes(fragment)?;
        let begun = fragment.is_measured.then_some(arrival);
        if fragment.is_measured {
            context = Measuring::on(context);
        }
        let is_sent = fragment.exchange.is_none() && fragment.store.is_none();
        let plan = match &fragment.input {
            Input::Scans(scans) if is_sent && scans.len() == 1 => {
                let (here, elsewhere) = found(reading, &scans[0], &context).await?;
                let plan = fragment.plan(vec![Arc::new(here)], &context)?;
                with_others(plan, &fragment, &elsewhere)?
            }
            Input::Scans(all) => {
                let all = all.iter().map(|scan| scans::whole_scan(reading, scan, &context));
                fragment.plan(try_join_all(all).await?, &context)?
            }
            Input::Parts(parts) => fragment.plan(exchanges::readers(reading, parts)?, &context)?,
            Input::Stored(rows) => fragment.plan(vec![self.results.get(*rows)?], &context)?,
        };
        // The stored rows of a bundle are shared by all fragments that read them.
        let plan = stoppable(plan, &|operator| operator.downcast_ref::<Stored>().is_some())?;
        if let Some(store) = fragment.store {
            return storing::store(&self.results, store, plan, &context, batches, begun).await;
        }
        if let Some(id) = fragment.exchange {
            let exchanges = &self.exchanges;
            return exchanges::produce_exchange(exchanges, id, &plan, context, batches, begun)
                .await;
        }
        let plan = match order_of(&plan)? {
            Some(order) => Arc::new(SortPreservingMergeExec::new(order, plan)),
            None => plan,
        };
        let mut rows = execute_stream(Arc::clone(&plan), context)?;
        while let Some(batch) = rows.try_next().await? {
            if batches.send(Ok(batch)).await.is_err() {
                return Ok(());
            }
        }
        metrics::send_metrics(&plan, begun, batches).await
    }
}
