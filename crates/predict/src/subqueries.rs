//! Correlated subqueries: each is planned once, for likely outer values, or for many if it runs for
//! them at once.

use super::tables::statistics;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{ColumnStatistics, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::physical_expr::async_scalar_function::AsyncFuncExpr;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::async_func::AsyncFuncExec;
use planner::correlated::{ByRow, SubqueryFunction};
use scan::estimate::column_of;
use std::sync::Arc;
use values::Result;

/// The outer values of a subquery that runs for many at once.
const ALL_VALUES: &str = "all values";

/// A subquery of a plan.
pub(super) struct Subquery {
    /// The function of the plan that stands for it.
    call: Arc<dyn PhysicalExpr>,
    pub(super) plan: Arc<dyn ExecutionPlan>,
    /// The outer columns with the values that it was planned for.
    pub(super) values: String,
    /// Number of runs.
    pub(super) runs: u64,
}

impl Subquery {
    /// The subquery for which a function stands.
    pub(super) fn of<'a>(all: &'a [Self], call: &Arc<dyn PhysicalExpr>) -> Option<&'a Self> {
        all.iter().find(|subquery| Arc::ptr_eq(&subquery.call, call))
    }
}

/// The subqueries of a plan, nested ones too.
pub(super) async fn of_plan(
    plan: &Arc<dyn ExecutionPlan>,
    engine: &SessionState,
) -> Result<Vec<Subquery>> {
    let Some(by_row) = engine.config().get_extension::<ByRow>() else { return Ok(Vec::new()) };
    let (mut found, mut open) = (Vec::new(), vec![Arc::clone(plan)]);
    while let Some(plan) = open.pop() {
        let mut waiting = Vec::new();
        plan.apply(|node| {
            waiting.extend(node.downcast_ref::<AsyncFuncExec>().map(|_| Arc::clone(node)));
            Ok(TreeNodeRecursion::Continue)
        })?;
        for node in waiting {
            for call in calls(&node)? {
                let function = call.downcast_ref::<ScalarFunctionExpr>();
                let Some(function) = function.and_then(|call| by_row.find(call.fun())) else {
                    continue;
                };
                let subquery = planned(&function, call, node.children()[0]).await?;
                open.push(Arc::clone(&subquery.plan));
                found.push(subquery);
            }
        }
    }
    Ok(found)
}

/// The asynchronous functions of an operator, each a column after those of its input.
pub(super) fn calls(waiting: &Arc<dyn ExecutionPlan>) -> Result<Vec<Arc<dyn PhysicalExpr>>> {
    let mut calls = Vec::new();
    waiting.apply_expressions(&mut |expr| {
        calls.extend(expr.downcast_ref::<AsyncFuncExpr>().map(|call| Arc::clone(&call.func)));
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(calls)
}

async fn planned(
    function: &SubqueryFunction,
    call: Arc<dyn PhysicalExpr>,
    around: &Arc<dyn ExecutionPlan>,
) -> Result<Subquery> {
    let runs = function.runs();
    if let Some(plan) = function.plan_for_many().await? {
        return Ok(Subquery { call, plan, values: ALL_VALUES.to_owned(), runs });
    }
    let (known, schema) = (statistics(around)?, around.schema());
    let columns = function.columns();
    let mut values = Vec::with_capacity(columns.len());
    for argument in call.children().into_iter().take(columns.len()) {
        let column = column_of(argument).and_then(|column| known.column_statistics.get(column));
        values.push(likely(&argument.data_type(&schema)?, column)?);
    }
    let plan = function.plan(&values).await?;
    let named =
        columns.iter().zip(&values).map(|(column, value)| format!("{} = {value}", column.name));
    let values = named.collect::<Vec<_>>().join(", ");
    Ok(Subquery { call, plan, values, runs })
}

/// A likely value of a column: the middle of its range, or the minimum if the type has no middle.
fn likely(data_type: &DataType, known: Option<&ColumnStatistics>) -> Result<ScalarValue> {
    let bounds =
        known.and_then(|known| Some((known.min_value.get_value()?, known.max_value.get_value()?)));
    let Some((least, greatest)) = bounds else { return Ok(ScalarValue::new_default(data_type)?) };
    let number = |value: &ScalarValue| match value.cast_to(&DataType::Int64) {
        Ok(ScalarValue::Int64(number)) => number,
        _ => None,
    };
    let middle =
        number(least).zip(number(greatest)).map(|(least, greatest)| least.midpoint(greatest));
    let middle = middle.and_then(|middle| ScalarValue::Int64(Some(middle)).cast_to(data_type).ok());
    Ok(match middle.filter(|middle| !middle.is_null()) {
        Some(middle) => middle,
        None => least.cast_to(data_type)?,
    })
}
