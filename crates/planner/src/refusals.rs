//! Rejects aggregates and window functions in places where SQL does not allow them, and recursive
//! queries without columns.
//!
//! DataFusion's SQL planner accepts some of them, and its physical planner fails with an internal
//! error or panics.

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use datafusion::logical_expr::{Expr, LogicalPlan};
use values::error::{Error, SqlState};
use values::translate::external;

/// Rejects aggregates and window functions in WHERE, JOIN conditions and GROUP BY, and what the
/// engine cannot run without columns.
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
                    refuse_async(expr)?;
                }
            }
            LogicalPlan::RecursiveQuery(query)
                if query.is_distinct && node.schema().fields().is_empty() =>
            {
                let message = "UNION of a recursive query without columns is not supported";
                return Err(external(Error::unsupported(message)));
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

/// Rejects asynchronous functions: their type `void` has no equality.
fn refuse_async(expr: &Expr) -> Result<()> {
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
