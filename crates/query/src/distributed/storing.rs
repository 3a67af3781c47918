//! Rows that stay on the servers that have made them, for the fragment that runs next.
//!
//! Whoever coordinates lets every server run a fragment and keep what it gives under a name ([`crate::distributed::bundles::Results`]).
//! Each answers with how much that is, when it has all of it: so the servers wait for each other, and no fragment
//! begins anywhere before the one below it is done everywhere. The rows are there for as long as the coordinator listens.

use super::receive::{Node, Sender, out_of_range, send_metrics};
use super::remote::{RemoteFragment, Sent, order_of};
use super::wire::Output;
use crate::distributed::bundles::{Amounts, Stored};
use crate::values::error::Result as QueryResult;
use crate::values::translate::external;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;
use store::ExchangeId;

/// How a server keeps the rows of a fragment.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct StoreAs {
    /// Their name.
    pub(crate) id: ExchangeId,
    /// Bytes in memory, at most.
    pub(crate) bytes_max: usize,
}

/// A fragment whose rows several servers keep, with what each has to do.
pub(crate) struct Begun {
    /// What this server runs.
    pub(crate) here: Arc<dyn ExecutionPlan>,
    elsewhere: Vec<Sent>,
}

impl Begun {
    /// Sends a fragment to the others that run it. `parts` are what this server runs, and theirs.
    pub(crate) async fn of(
        parts: &[Arc<dyn ExecutionPlan>],
        store: Option<StoreAs>,
        context: &Arc<TaskContext>,
    ) -> Result<Self> {
        let Some(store) = store else {
            return Ok(Self { here: Arc::clone(&parts[0]), elsewhere: Vec::new() });
        };
        let others = parts.iter().filter_map(|part| part.downcast_ref::<RemoteFragment>());
        let sent = others.map(|other| async move {
            if let Some(sent) = other.send(context, Output::Stored(store)).await? {
                return Ok::<_, DataFusionError>((Some(sent), None));
            }
            // It is done here, and the next fragment, which that server runs, too, finds no rows there.
            let none = other.of_no_rows()?.send(context, Output::Stored(store)).await?;
            Ok((none, Some(other.over_sent_rows()?)))
        });
        let (sent, unsent): (Vec<_>, Vec<_>) = try_join_all(sent).await?.into_iter().unzip();
        let here = std::iter::once(Arc::clone(&parts[0])).chain(unsent.into_iter().flatten());
        let elsewhere = sent.into_iter().flatten().collect();
        Ok(Self { here: together(here.collect())?, elsewhere })
    }

    /// Waits until the others have all their rows; how much each of them keeps.
    pub(crate) async fn stored(&mut self) -> Result<Vec<Amounts>> {
        let stored = self.elsewhere.iter_mut().map(|sent| async {
            match sent.next().await {
                Some(Ok(answer)) => match Amounts::of_batch(&answer) {
                    Some(amounts) => Ok(amounts),
                    None => Err(external(out_of_range("a server does not say what it stores"))),
                },
                Some(Err(error)) => Err(external(error.into())),
                None => Err(external(out_of_range("a server does not store a fragment's rows"))),
            }
        });
        try_join_all(stored).await
    }
}

/// What this server runs of a fragment, also for others that could not be sent what they need for it.
fn together(mut plans: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
    if plans.len() == 1 {
        return Ok(plans.swap_remove(0));
    }
    let order = order_of(&plans[0])?;
    let all = UnionExec::try_new(plans)?;
    Ok(match order {
        Some(order) => Arc::new(SortPreservingMergeExec::new(order, all)),
        None => Arc::new(CoalescePartitionsExec::new(all)),
    })
}

/// Runs a fragment of another server, and keeps its rows for as long as that listens.
pub(super) async fn store_here(
    node: &Node,
    store: StoreAs,
    plan: Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
    (answers, measured): (&Sender<RecordBatch>, Option<Instant>),
) -> QueryResult<()> {
    let stored = Arc::new(Stored::here(Arc::clone(&plan), 0, store.bytes_max));
    let _opened = stored.opened(context).await?;
    send_metrics(&plan, measured, answers).await?;
    let answer = stored.amounts().to_batch()?;
    let _held = node.results.insert(store.id, stored)?;
    if answers.send(Ok(answer)).await.is_ok() {
        answers.closed().await;
    }
    Ok(())
}
