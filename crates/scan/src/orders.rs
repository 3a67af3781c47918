//! A rule of the physical optimizer: rows that a scan can read in an order are not sorted.
//!
//! Scans read in key order, or against it. The engine's own rule for this puts a buffer above a
//! scan; rows in memory need none.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::limit::LocalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SortOrderPushdownResult};
use std::sync::Arc;

/// Lets scans read in the order that a sort would make.
#[derive(Debug)]
pub struct ReadInOrder;

impl PhysicalOptimizerRule for ReadInOrder {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rewrite = |node: Arc<dyn ExecutionPlan>| match node.downcast_ref::<SortExec>() {
            Some(sort) => Ok(match sorted_input(sort)? {
                Some(input) => Transformed::yes(input),
                None => Transformed::no(node),
            }),
            None => Ok(Transformed::no(node)),
        };
        plan.transform_up(rewrite).data()
    }

    fn name(&self) -> &'static str {
        "ReadInOrder"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The input of a sort, read in its order, and with its limit; `None` if it cannot be.
fn sorted_input(sort: &SortExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let input = sort.input();
    let partitions = input.output_partitioning().partition_count();
    if partitions > 1 && !sort.preserve_partitioning() {
        return Ok(None);
    }
    let SortOrderPushdownResult::Exact { inner } = input.try_pushdown_sort(sort.expr())? else {
        return Ok(None);
    };
    let Some(limit) = sort.fetch() else { return Ok(Some(inner)) };
    Ok(Some(match limited(&inner, limit)? {
        Some(limited) => limited,
        None => Arc::new(LocalLimitExec::new(inner, limit)),
    }))
}

/// The plan with a limit on the rows of each partition; `None` if it cannot have one. A projection has as many rows as its
/// input.
fn limited(plan: &Arc<dyn ExecutionPlan>, limit: usize) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(limited) = plan.with_fetch(Some(limit)) {
        return Ok(Some(limited));
    }
    let Some(projection) = plan.downcast_ref::<ProjectionExec>() else { return Ok(None) };
    let Some(input) = limited(projection.input(), limit)? else { return Ok(None) };
    replace_children_if_necessary(Arc::clone(plan), vec![input]).map(Some)
}
