//! Broadcasts of a fragment and the dynamic filters of the joins that read them.
//!
//! A join over a broadcast has a dynamic filter of the broadcast's keys, which scans below use: those
//! of the fragment, and those of broadcasts and exchanges further down. The join on this server
//! completes it when it has read the broadcast. A fragment for another server does not wait for that
//! join, so it completes the filter itself before it goes down. Otherwise it would depend on chance
//! how many rows the scans return.

use super::leaves::below;
use crate::exchange::Broadcast;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::expressions::DynamicFilterPhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use futures::{FutureExt, TryStreamExt};
use std::any::Any;
use std::sync::Arc;

/// Computes the rows of all broadcasts of a fragment and the dynamic filters of their joins, from the
/// root down. Returns the bytes of the rows.
pub(super) async fn gathered_bytes(
    fragment: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
) -> Result<usize> {
    let mut nodes = Vec::new();
    fragment.apply(|node| {
        nodes.push(Arc::clone(node));
        Ok(below(node))
    })?;
    let mut bytes = 0;
    for node in &nodes {
        if let Some(broadcast) = node.downcast_ref::<Broadcast>() {
            bytes += broadcast.gathered(context).await?.bytes;
        } else if let Some(join) = node.downcast_ref::<HashJoinExec>()
            && join.left().downcast_ref::<Broadcast>().is_some()
        {
            // It only saves work: the query goes on without it.
            complete_filter(join, context).await.ok();
        }
    }
    Ok(bytes)
}

/// Completes the dynamic filter of a join over a broadcast, if it has one that is not complete: the
/// engine computes it when the join runs, here over no rows of its right side.
async fn complete_filter(join: &HashJoinExec, context: &Arc<TaskContext>) -> Result<()> {
    let Some(filter) = filter_of(join) else { return Ok(()) };
    if filter.wait_complete().now_or_never().is_some() {
        return Ok(());
    }
    let none = Arc::new(EmptyExec::new(join.right().schema()));
    let none = Arc::new(FilterExec::try_new(Arc::clone(&filter) as _, none)?);
    let builder = join.builder().with_new_children(vec![Arc::clone(join.left()), none])?;
    let alone = builder.reset_state().recompute_properties().build()?;
    let mut rows = alone.with_dynamic_filter_expr(filter)?.execute(0, Arc::clone(context))?;
    while rows.try_next().await?.is_some() {}
    Ok(())
}

fn filter_of(join: &HashJoinExec) -> Option<Arc<DynamicFilterPhysicalExpr>> {
    let produced = join.dynamic_expressions_produced().into_iter().next()?;
    (produced as Arc<dyn Any + Send + Sync>).downcast().ok()
}
