//! Keeps volatile columns of subqueries in a plan.
//!
//! Volatile functions run for every row even if their column is unused:
//! `SELECT count(*) FROM (SELECT nextval('s')) x` advances the sequence. DataFusion removes unused
//! columns. A filter that is always true, but opaque to the optimizer, uses them. Columns of the
//! outermost select list are used anyway. PostgreSQL does not compute those of EXISTS either.

use super::every_expression;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, Projection, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::optimizer::AnalyzerRule;

/// The analyzer rule that keeps volatile columns.
#[derive(Debug)]
pub struct VolatileColumns;

impl AnalyzerRule for VolatileColumns {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        match every_expression::exists(&plan, is_volatile_call)? {
            true => below(plan),
            false => Ok(plan),
        }
    }

    fn name(&self) -> &str {
        "volatile_columns"
    }
}

/// Handles a query whose select list is used.
fn below(plan: LogicalPlan) -> Result<LogicalPlan> {
    let is_outermost = matches!(
        plan,
        LogicalPlan::Projection(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Union(_)
            | LogicalPlan::Subquery(_)
    );
    // These return the rows of their input, so its select list is the outermost one.
    let goes_on = is_outermost && !matches!(plan, LogicalPlan::Projection(_));
    let plan = plan.map_subqueries(|query| below(query).map(Transformed::yes))?.data;
    let step = |child| if goes_on { below(child) } else { used(child) };
    Ok(plan.map_children(|child| step(child).map(Transformed::yes))?.data)
}

/// Handles a query in FROM, whose columns may be unused.
fn used(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.map_subqueries(|query| below(query).map(Transformed::yes))?.data;
    let plan = plan.map_children(|child| used(child).map(Transformed::yes))?.data;
    let LogicalPlan::Projection(projection) = &plan else { return Ok(plan) };
    let columns = volatile_columns(projection)?;
    if columns.is_empty() {
        return Ok(plan);
    }
    let signature = Signature::variadic_any(Volatility::Volatile);
    let used = ScalarUDF::new_from_impl(Used { signature });
    LogicalPlanBuilder::from(plan).filter(used.call(columns))?.build()
}

/// The columns of a select list that call volatile functions.
fn volatile_columns(projection: &Projection) -> Result<Vec<Expr>> {
    let mut columns = Vec::new();
    for (expr, column) in projection.expr.iter().zip(projection.schema.columns()) {
        if expr.exists(|part| Ok(is_volatile_call(part)))? {
            columns.push(Expr::Column(column));
        }
    }
    Ok(columns)
}

fn is_volatile_call(part: &Expr) -> bool {
    matches!(part, Expr::ScalarFunction(call)
        if call.func.signature().volatility == Volatility::Volatile)
}

/// A function that is always true.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Used {
    signature: Signature,
}

impl ScalarUDFImpl for Used {
    fn name(&self) -> &str {
        "is_used"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(ScalarValue::Boolean(Some(true))))
    }
}
