//! Aggregates and window functions where SQL has none. The engine lets some of them through to its own planner of
//! expressions, which does not know them.

use crate::values::error::{Error, SqlState};
use crate::values::translate::external;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Refuses a plan that computes an aggregate or a window function beside rows, not over them.
pub(super) fn of_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.apply_with_subqueries(|node| {
        match node {
            LogicalPlan::Filter(filter) => refuse_in(&filter.predicate, "WHERE")?,
            LogicalPlan::Join(join) => {
                let pairs = join.on.iter().flat_map(|(left, right)| [left, right]);
                for expr in pairs.chain(&join.filter) {
                    refuse_in(expr, "JOIN conditions")?;
                }
            }
            LogicalPlan::Aggregate(aggregate) => {
                for expr in &aggregate.group_expr {
                    refuse_in(expr, "GROUP BY")?;
                    refuse_waiting(expr)?;
                }
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(plan)
}

fn refuse_in(expr: &Expr, place: &str) -> Result<()> {
    expr.apply(|part| {
        let (state, what) = match part {
            Expr::AggregateFunction(_) => (SqlState::GroupingError, "aggregate"),
            Expr::WindowFunction(_) => (SqlState::WindowingError, "window"),
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        let message = format!("{what} functions are not allowed in {place}");
        Err(external(Error::new(state, message)))
    })?;
    Ok(())
}

/// What a function that waits gives is of no type that has equality.
fn refuse_waiting(expr: &Expr) -> Result<()> {
    expr.apply(|part| match part {
        Expr::ScalarFunction(call)
            if call.func.inner().downcast_ref::<AsyncScalarUDF>().is_some() =>
        {
            let message = "could not identify an equality operator for type void";
            Err(external(Error::new(SqlState::UndefinedFunction, message)))
        }
        _ => Ok(TreeNodeRecursion::Continue),
    })?;
    Ok(())
}
