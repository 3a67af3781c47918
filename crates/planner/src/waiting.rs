//! Asynchronous functions in VALUES: `INSERT INTO t VALUES (pg_sleep(1), 2)`.
//!
//! DataFusion evaluates VALUES during planning and runs asynchronous functions only in projections.
//! A VALUES with such calls becomes a union of projections of one empty row.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Values};
use datafusion::optimizer::AnalyzerRule;

/// The analyzer rule that moves VALUES with asynchronous functions into projections.
#[derive(Debug)]
pub struct WaitingValues;

impl AnalyzerRule for WaitingValues {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let mut has_values = false;
        plan.apply_with_subqueries(|node| {
            has_values |= matches!(node, LogicalPlan::Values(_));
            Ok(if has_values { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if !has_values {
            return Ok(plan);
        }
        let plan = plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Values(values) if has_async_call(&values)? => {
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

fn has_async_call(values: &Values) -> Result<bool> {
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
