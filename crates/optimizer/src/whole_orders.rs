//! Gives the first rows of each partition the order in which partitions are merged.
//!
//! `SELECT 2, v FROM a UNION ALL SELECT 1, v FROM b ORDER BY 1, 2 LIMIT 1`: in each partition the first key is the same for
//! all rows, so that the engine sorts partitions by the second one. But the sorts of all partitions share what they know of
//! the rows that are too late, as if all of them had the same first key.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use std::sync::Arc;

/// The rule of the physical optimizer. It runs before filters are given to what sorts read.
#[derive(Debug)]
pub struct WholeOrders;

impl PhysicalOptimizerRule for WholeOrders {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let whole = |node: Arc<dyn ExecutionPlan>| {
            let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() else {
                return Ok(Transformed::no(node));
            };
            let Some(sort) = whole_sort(merge) else { return Ok(Transformed::no(node)) };
            let keys = merge.expr().clone();
            let merge =
                SortPreservingMergeExec::new(keys, Arc::new(sort)).with_fetch(merge.fetch());
            Ok(Transformed::yes(Arc::new(merge) as Arc<dyn ExecutionPlan>))
        };
        plan.transform_up(whole).data()
    }

    fn name(&self) -> &str {
        "whole_orders"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The sort below a merge, by all keys of the merge. `None` if it is one already, or keeps all rows.
fn whole_sort(merge: &SortPreservingMergeExec) -> Option<SortExec> {
    let sort = merge.input().downcast_ref::<SortExec>()?;
    let is_partial = sort.fetch().is_some() && sort.expr() != merge.expr();
    is_partial.then(|| {
        SortExec::new(merge.expr().clone(), Arc::clone(sort.input()))
            .with_preserve_partitioning(sort.preserve_partitioning())
            .with_fetch(sort.fetch())
    })
}
