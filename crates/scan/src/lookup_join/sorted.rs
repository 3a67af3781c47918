//! Joins whose right side is sorted. The engine sorts below a join what is ordered by columns of its right side, which takes
//! longer than to sort the few rows of a lookup.

use super::hash_join;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use std::sync::Arc;

/// A join without the sort of its right side, and its output's order by that sort.
pub(super) struct Unsorted {
    pub(super) join: Arc<dyn ExecutionPlan>,
    order: LexOrdering,
    preserves_partitioning: bool,
}

impl Unsorted {
    /// The join without the sort; `None` if there is none, or if the output lacks its columns.
    pub(super) fn of(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Self>> {
        let join = hash_join(plan).filter(|join| *join.join_type() == JoinType::Inner);
        let Some(join) = join else { return Ok(None) };
        let sort = join.right().downcast_ref::<SortExec>().filter(|sort| sort.fetch().is_none());
        let Some(sort) = sort else { return Ok(None) };
        let (schema, first) = (plan.schema(), join.left().schema().fields().len());
        let place = |column: &Column| {
            let at = first + column.index();
            match &join.projection {
                Some(kept) => kept.iter().position(|other| *other == at),
                None => Some(at),
            }
        };
        let mut is_whole = true;
        let mut order = Vec::with_capacity(sort.expr().len());
        for key in sort.expr() {
            let moved = Arc::clone(&key.expr).transform_up(|part| {
                let Some(column) = part.downcast_ref::<Column>() else {
                    return Ok(Transformed::no(part));
                };
                let Some(at) = place(column) else {
                    is_whole = false;
                    return Ok(Transformed::no(part));
                };
                Ok(Transformed::yes(Arc::new(Column::new(schema.field(at).name(), at)) as _))
            })?;
            order.push(PhysicalSortExpr { expr: moved.data, options: key.options });
        }
        let Some(order) = LexOrdering::new(order).filter(|_| is_whole) else { return Ok(None) };
        let children = vec![Arc::clone(join.left()), Arc::clone(sort.input())];
        let preserves_partitioning = sort.preserve_partitioning();
        let join = replace_children_if_necessary(Arc::clone(plan), children)?;
        Ok(Some(Self { join, order, preserves_partitioning }))
    }

    /// The sort of what takes the join's place.
    pub(super) fn sorted(self, join: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        let sort = SortExec::new(self.order, join);
        Arc::new(sort.with_preserve_partitioning(self.preserves_partitioning))
    }
}
