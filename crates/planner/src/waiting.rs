//! Functions that wait (`pg_sleep`) in VALUES: `INSERT INTO t VALUES (pg_sleep(1), 2)`.
//!
//! The engine evaluates VALUES while it plans, and can wait only in projections; so rows with such calls become
//! projections of one empty row.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Values};
use datafusion::optimizer::AnalyzerRule;

/// The rule of a plan's analysis that lets VALUES wait.
#[derive(Debug)]
pub struct WaitingValues;

impl AnalyzerRule for WaitingValues {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Values(values) if waits(&values)? => {
                projected(values).map(Transformed::yes)
            }
            node => Ok(Transformed::no(node)),
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &str {
        "waiting_values"
    }
}

fn waits(values: &Values) -> Result<bool> {
    let is_call = |expr: &Expr| match expr {
        Expr::ScalarFunction(call) => {
            Ok(call.func.inner().downcast_ref::<AsyncScalarUDF>().is_some())
        }
        _ => Ok(false),
    };
    for expr in values.values.iter().flatten() {
        if expr.exists(is_call)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn projected(values: Values) -> Result<LogicalPlan> {
    let Values { schema, values } = values;
    let mut rows = values.into_iter().map(|row| {
        let named = row.into_iter().zip(schema.fields());
        let columns = named.map(|(expr, field)| expr.alias(field.name()));
        LogicalPlanBuilder::empty(true).project(columns)
    });
    let first = rows.next().unwrap_or_else(|| Ok(LogicalPlanBuilder::empty(false)))?;
    let all = rows.try_fold(first, |all, row| all.union(row?.build()?))?.build()?;
    Ok(all)
}
