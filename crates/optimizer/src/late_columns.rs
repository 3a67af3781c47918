//! Computes values only for the rows that a limit leaves.
//!
//! `SELECT 1 / (id - 3) FROM t ORDER BY id LIMIT 2`: PostgreSQL divides for two rows. The engine computes a select list below
//! the operators that cut its rows where these columns are fewer than those that they are made of, and then an error of a row
//! that nobody asks for is one of the query. Values of volatile functions would come in another order, too.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use executor::physical_may_fail;
use std::sync::Arc;

/// The rule of the physical optimizer. It runs when limits and projections are where the engine wants them.
#[derive(Debug)]
pub struct LateColumns;

impl PhysicalOptimizerRule for LateColumns {
    fn name(&self) -> &str {
        "late_columns"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|node| {
            Ok(match raised(&node)? {
                Some(plan) => Transformed::yes(plan),
                None => Transformed::no(node),
            })
        })
        .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A projection whose values may fail, above the operator that cuts its rows.
fn raised(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let [child] = node.children()[..] else { return Ok(None) };
    let Some(projection) = child.downcast_ref::<ProjectionExec>() else { return Ok(None) };
    let may_fail = || projection.expr().iter().any(|column| physical_may_fail(&column.expr));
    if node.fetch().is_none() || !may_fail() {
        return Ok(None);
    }
    let Some(cut) = below(node, projection)? else { return Ok(None) };
    replace_children_if_necessary(Arc::clone(child), vec![cut]).map(Some)
}

/// The operator over the rows that a projection reads. `None` if it needs values that the projection computes, or cuts no
/// rows.
fn below(
    node: &Arc<dyn ExecutionPlan>,
    projection: &ProjectionExec,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let input = Arc::clone(projection.input());
    if let Some(sort) = node.downcast_ref::<SortExec>() {
        let Some(keys) = keys_below(sort.expr(), projection) else { return Ok(None) };
        let sort = SortExec::new(keys, input)
            .with_preserve_partitioning(sort.preserve_partitioning())
            .with_fetch(sort.fetch());
        return Ok(Some(Arc::new(sort)));
    }
    if let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() {
        let Some(keys) = keys_below(merge.expr(), projection) else { return Ok(None) };
        let merge = SortPreservingMergeExec::new(keys, input).with_fetch(merge.fetch());
        return Ok(Some(Arc::new(merge)));
    }
    let is_limit = node.is::<GlobalLimitExec>()
        || node.is::<LocalLimitExec>()
        || node.is::<CoalescePartitionsExec>();
    match is_limit {
        true => replace_children_if_necessary(Arc::clone(node), vec![input]).map(Some),
        false => Ok(None),
    }
}

/// An order over the columns that a projection reads.
fn keys_below(keys: &LexOrdering, projection: &ProjectionExec) -> Option<LexOrdering> {
    let below = keys.iter().map(|key| {
        let column = key.expr.downcast_ref::<Column>()?;
        let expr = &projection.expr().get(column.index())?.expr;
        let expr = expr.is::<Column>().then(|| Arc::clone(expr))?;
        Some(PhysicalSortExpr { expr, options: key.options })
    });
    LexOrdering::new(below.collect::<Option<Vec<_>>>()?)
}
