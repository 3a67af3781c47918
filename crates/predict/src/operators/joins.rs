//! Joins of all kinds.

use super::{Builder, missing};
use crate::flow::Flow;
use crate::joins::Join;
use datafusion::common::JoinType;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use dbsim::plan::Kind;
use distributed::kinds;
use scan::estimate::copied_row_bytes;
use std::sync::Arc;
use values::Result;

/// The engine's metric for arrays that replace hash tables.
const ARRAYS: &str = "array_map_created_count";

impl Builder<'_> {
    pub(super) fn join(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        let sides_of = match plan.children()[..] {
            [left, right] => [left, right],
            _ => return Err(missing(plan.name())),
        };
        let [left, right] = [self.flow(sides_of[0])?, self.flow(sides_of[1])?];
        let sides = [&left, &right];
        let join = if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
            let mut sought = join.on().iter().map(|(_, key)| key);
            self.operators[right.operator].ordered =
                first_of_order(join.right()).is_some_and(|first| sought.any(|key| key.eq(&first)));
            let projection = join.projection.as_deref();
            let (keys, join_type) = (join.on(), *join.join_type());
            Join { sides, keys, filter: join.filter(), join_type, projection }
        } else if let Some(join) = plan.downcast_ref::<SortMergeJoinExec>() {
            for side in sides {
                self.operators[side.operator].ordered = true;
            }
            let filter = join.filter().as_ref();
            Join { sides, keys: join.on(), filter, join_type: join.join_type(), projection: None }
        } else if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
            let projection = join.projection().as_deref();
            let join_type = *join.join_type();
            Join { sides, keys: &[], filter: join.filter(), join_type, projection }
        } else {
            Join { sides, keys: &[], filter: None, join_type: JoinType::Inner, projection: None }
        };
        let kind = kinds::of_join(plan).unwrap_or(Kind::NestedLoopJoin);
        let supposed = join.rows(&mut self.guesses);
        let rows = self.counted(&**plan, supposed);
        let columns = join.columns();
        let built_row_bytes = copied_row_bytes(&join.columns_of_table());
        let terms = join.terms(rows, &[sides_of[0].schema(), sides_of[1].schema()]);
        let close_keys = match self.was_run.then(|| plan.metrics()).flatten() {
            Some(metrics) => metrics.sum_by_name(ARRAYS).is_some_and(|made| made.as_usize() > 0),
            None => join.has_close_keys(&sides_of[0].schema()),
        };
        let array = if close_keys { "; those of the first lie close, in an array" } else { "" };
        self.guesses.note(format!(
            "a {} of {:.0} and {:.0} rows makes {rows:.0} (each key as often as another{array})",
            kind.name(),
            left.rows,
            right.rows
        ));
        let flow = self.push(kind, &[left.operator, right.operator], rows, columns, None);
        let operator = &mut self.operators[flow.operator];
        operator.builds_first = kind == Kind::HashJoin;
        operator.close_keys = operator.builds_first && close_keys;
        if operator.builds_first {
            operator.built_row_bytes = built_row_bytes;
        }
        self.computes(flow.operator, terms);
        Ok(flow)
    }
}

/// The first expression of the order of a plan's rows.
fn first_of_order(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn PhysicalExpr>> {
    plan.properties().output_ordering().map(|order| Arc::clone(&order.first().expr))
}
