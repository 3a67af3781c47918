//! Keeps the keys of ORDER BY that are constants on one side of an outer join, or below grouping sets.
//!
//! `SELECT * FROM a LEFT JOIN (SELECT k, true AS found FROM b) c ON a.k = c.k ORDER BY c.found, a.k`: the engine takes
//! `found` for the same in all rows, although the join makes rows in which it is NULL, and sorts by the second key only. A
//! [`Varying`] below the join hides from it that the column is a constant. So it is above grouping sets, whose keys are NULL
//! in the rows of other sets, and no longer what others are.
//!
//! `SELECT nextval('s') AS n ... ORDER BY n DESC`: the engine takes a call with constant arguments for a constant, also of a
//! volatile function, and does not sort. A [`Varying`] is above projections with such calls.

use crate::same_names::volatile_columns;
use crate::varying::Varying;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::{ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions};
use std::sync::Arc;

/// The rule of the physical optimizer. It runs before sorts are placed.
#[derive(Debug)]
pub struct OuterConstants;

impl PhysicalOptimizerRule for OuterConstants {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(hidden).data()
    }

    fn name(&self) -> &str {
        "outer_constants"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A join whose sides that it may fill with NULL have no constants, grouping sets without keys that are constants or the
/// same as others, and a projection whose volatile values are no constants.
fn hidden(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let sets = node.downcast_ref::<AggregateExec>().map(AggregateExec::group_expr);
    let is_known = !node.properties().eq_properties.eq_group().is_empty();
    let has_sets = sets.is_some_and(|sets| !sets.is_single());
    if is_known && (has_sets || !volatile_columns(&node)?.is_empty()) {
        return Ok(Transformed::yes(Arc::new(Varying::new(node))));
    }
    let nullable: &[usize] = match join_type(&node) {
        Some(JoinType::Left) => &[1],
        Some(JoinType::Right) => &[0],
        Some(JoinType::Full) => &[0, 1],
        _ => return Ok(Transformed::no(node)),
    };
    let mut children: Vec<_> = node.children().into_iter().cloned().collect();
    let mut is_changed = false;
    for place in nullable {
        let Some(child) = children.get_mut(*place) else { continue };
        if has_constants(child) {
            *child = Arc::new(Varying::new(Arc::clone(child)));
            is_changed = true;
        }
    }
    if !is_changed {
        return Ok(Transformed::no(node));
    }
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Ok(Transformed::yes(node.replace_children(children, options)?))
}

fn has_constants(node: &Arc<dyn ExecutionPlan>) -> bool {
    !node.properties().eq_properties.constants().is_empty()
}

fn join_type(node: &Arc<dyn ExecutionPlan>) -> Option<JoinType> {
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        return Some(*join.join_type());
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        return Some(*join.join_type());
    }
    node.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type)
}
