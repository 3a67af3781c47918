//! Keeps the order of rows of which OFFSET skips some, without a LIMIT.
//!
//! `SELECT a FROM (SELECT a FROM t ORDER BY b OFFSET 5) x JOIN u USING (a)`: for the engine a limit without a number of rows
//! does not depend on the order of its rows, so that it drops the sort, or sorts by what the outer query orders by. While
//! plans are optimized, such limits have a number of rows that is never reached.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::logical_expr::{Limit, LogicalPlan, lit};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use std::sync::Arc;

/// More rows than there can be.
const ALL_ROWS: i64 = i64::MAX / 2;

/// The rule of the logical optimizer, which gives limits a number of rows. It is the first one.
#[derive(Debug)]
pub struct SkippedRows;

impl OptimizerRule for SkippedRows {
    fn name(&self) -> &str {
        "skipped_rows"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        Ok(match plan {
            LogicalPlan::Limit(limit) if limit.fetch.is_none() && is_sorted(&limit.input) => {
                let fetch = Some(Box::new(lit(ALL_ROWS)));
                Transformed::yes(LogicalPlan::Limit(Limit { fetch, ..limit }))
            }
            plan => Transformed::no(plan),
        })
    }
}

fn is_sorted(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Sort(_) => true,
        LogicalPlan::Projection(projection) => is_sorted(&projection.input),
        _ => false,
    }
}

/// The rule of the physical optimizer, which takes these numbers away again: a sort of all rows keeps no first ones.
#[derive(Debug)]
pub struct AllRows;

impl PhysicalOptimizerRule for AllRows {
    fn name(&self) -> &str {
        "all_rows"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            Ok(match without_number(&node) {
                Some(node) => Transformed::yes(node),
                None => Transformed::no(node),
            })
        })
        .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The operator without a number of rows that is never reached. `None` if it has none.
fn without_number(node: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    // What outer limits skip, or inner ones, was subtracted or added.
    node.fetch().filter(|rows| *rows >= (ALL_ROWS / 2) as usize)?;
    if let Some(limit) = node.downcast_ref::<GlobalLimitExec>() {
        return Some(Arc::new(GlobalLimitExec::new(Arc::clone(limit.input()), limit.skip(), None)));
    }
    if let Some(limit) = node.downcast_ref::<LocalLimitExec>() {
        return Some(Arc::clone(limit.input()));
    }
    let can = node.is::<SortExec>()
        || node.is::<SortPreservingMergeExec>()
        || node.is::<CoalescePartitionsExec>();
    if can { node.with_fetch(None) } else { None }
}
