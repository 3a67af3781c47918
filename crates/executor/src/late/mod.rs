//! Errors of subqueries that come when a row needs the value.
//!
//! PostgreSQL computes a subquery when an expression asks for it: `CASE WHEN x > 9 THEN (SELECT 1 / y FROM t) END` fails only
//! if a row has such an x. The engine computes the subqueries of a plan before its rows, and fails with them.
//! [`LateSubqueries`] computes them at the same time as the engine, but leaves the place of a value empty whose computation has
//! failed. The engine's expression fails when it reads an empty place, and this error is replaced by that of the subquery.
//!
//! Not here: subqueries that run for values of outer columns (`planner`).

mod operator;

pub(crate) use operator::LateSubqueries;

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{JoinType, Operator};
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr};
use datafusion::physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use std::sync::Arc;
use values::error::Error;

/// Whether an error of a subquery counts only where a row needs its value. Those of the statement count at once: it is
/// cancelled, lacks resources, conflicts with others, or meets an error of the system.
pub fn comes_late(error: &Error) -> bool {
    !["08", "40", "53", "57", "58", "XX"]
        .iter()
        .any(|class| error.state().code().starts_with(class))
}

/// Whether the rows of a plan need the value of a subquery whatever they are: a condition of WHERE mentions it and no column.
/// PostgreSQL computes such a condition before the rows.
fn is_needed_first(plan: &Arc<dyn ExecutionPlan>, subquery: &ScalarSubqueryExpr) -> Result<bool> {
    let inputs = plan.children();
    let mut found = false;
    if plan.is::<FilterExec>() || inputs.is_empty() {
        plan.apply_expressions(&mut |predicate| {
            for condition in split_conjunction(predicate) {
                found = found || needs_at_once(condition, subquery)?;
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    // An outer join may have no use for the rows of the side that it completes.
    let read = match join_type(plan) {
        Some(JoinType::Left) => 0..1,
        Some(JoinType::Right) => 1..2,
        Some(JoinType::Full) => 0..0,
        _ => 0..inputs.len(),
    };
    for input in &inputs[read] {
        found = found || is_needed_first(input, subquery)?;
    }
    Ok(found)
}

fn join_type(plan: &Arc<dyn ExecutionPlan>) -> Option<JoinType> {
    let by_hash = || plan.downcast_ref::<HashJoinExec>().map(|join| *join.join_type());
    let by_loop = || plan.downcast_ref::<NestedLoopJoinExec>().map(|join| *join.join_type());
    let by_order = || plan.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type);
    by_hash().or_else(by_loop).or_else(by_order)
}

/// Whether a condition depends on no column, and its value always on a subquery.
fn needs_at_once(condition: &Arc<dyn PhysicalExpr>, subquery: &ScalarSubqueryExpr) -> Result<bool> {
    let is_choice = |part: &Arc<dyn PhysicalExpr>| {
        let logic = part.downcast_ref::<BinaryExpr>();
        let is_logic = logic.is_some_and(|part| matches!(part.op(), Operator::And | Operator::Or));
        Ok(is_logic || part.is::<CaseExpr>())
    };
    let is_it = |part: &Arc<dyn PhysicalExpr>| {
        Ok(part.downcast_ref::<ScalarSubqueryExpr>().is_some_and(|part| part == subquery))
    };
    Ok(collect_columns(condition).is_empty()
        && condition.exists(is_it)?
        && !condition.exists(is_choice)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use values::error::SqlState;

    #[test]
    fn errors_of_values_come_late() {
        let comes = |state| comes_late(&Error::new(state, "failed"));
        assert!(comes(SqlState::DivisionByZero) && comes(SqlState::CardinalityViolation));
        assert!(!comes(SqlState::OutOfMemory) && !comes(SqlState::SerializationFailure));
    }
}
