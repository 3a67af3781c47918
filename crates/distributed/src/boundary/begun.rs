//! Sending a fragment to other servers that store its rows.
//!
//! Every server runs the fragment and stores its rows under a name ([`super::results`]). It answers
//! with their amount when it has all of them. So no fragment begins anywhere before the one below
//! it is finished everywhere. The rows exist as long as the coordinator keeps the channel open.

use super::amounts::Amounts;
use crate::shipped::{AsShipped, Sent};
use crate::wire::fragment::StoreAs;
use crate::wire::out_of_range;
use crate::wire::output::Output;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use futures::future::try_join_all;
use std::sync::Arc;
use values::translate::external;

/// A fragment whose rows several servers store.
pub(super) struct Begun {
    /// What this server runs.
    pub(super) here: Arc<dyn ExecutionPlan>,
    elsewhere: Vec<Sent>,
}

impl Begun {
    /// A fragment that only this server runs.
    pub(super) fn here(here: Arc<dyn ExecutionPlan>) -> Self {
        Self { here, elsewhere: Vec::new() }
    }

    /// Sends a fragment to the other servers. The first of `parts` is what this server runs, the
    /// others are theirs.
    pub(super) async fn everywhere(
        parts: &[Arc<dyn ExecutionPlan>],
        as_shipped: AsShipped,
        store: StoreAs,
        context: &Arc<TaskContext>,
    ) -> Result<Self> {
        let others: Vec<_> = parts.iter().filter_map(as_shipped).collect();
        let sent = others.iter().map(|other| async move {
            if let Some(sent) = other.send(context, Output::Stored(store)).await? {
                return Ok::<_, DataFusionError>((Some(sent), None));
            }
            // This server runs its part. The next fragment, which that server runs, too, must find
            // stored rows there.
            let none = other.send_empty(context, Output::Stored(store)).await?;
            Ok((none, Some(other.over_sent_rows()?)))
        });
        let (sent, unsent): (Vec<_>, Vec<_>) = try_join_all(sent).await?.into_iter().unzip();
        let order = others.first().map_or(Ok(None), |other| other.order())?;
        let here = std::iter::once(Arc::clone(&parts[0])).chain(unsent.into_iter().flatten());
        let elsewhere = sent.into_iter().flatten().collect();
        Ok(Self { here: together(here.collect(), order)?, elsewhere })
    }

    /// Waits until the others have all their rows; the amount that each of them stores.
    pub(super) async fn stored(&mut self) -> Result<Vec<Amounts>> {
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

/// The plans that this server runs as one, in the order that each of them has.
fn together(
    mut plans: Vec<Arc<dyn ExecutionPlan>>,
    order: Option<LexOrdering>,
) -> Result<Arc<dyn ExecutionPlan>> {
    if plans.len() == 1 {
        return Ok(plans.swap_remove(0));
    }
    let all = UnionExec::try_new(plans)?;
    Ok(match order {
        Some(order) => Arc::new(SortPreservingMergeExec::new(order, all)),
        None => Arc::new(CoalescePartitionsExec::new(all)),
    })
}
