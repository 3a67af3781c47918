//! Calls that can be executed.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchemaRef, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use std::sync::Arc;

/// An expression whose functions can be called. Stable functions such as `now()` become constants, and functions such as
/// `coalesce` the expressions that implement them. The engine's optimizer does that to plans, but not to expressions that
/// are executed by themselves.
///
/// # Errors
/// Those of a function.
pub fn callable(expr: Expr, schema: &DFSchemaRef, engine: &SessionState) -> Result<Expr> {
    let started = engine.execution_props().query_execution_start_time;
    let context = SimplifyContext::builder()
        .with_schema(Arc::clone(schema))
        .with_config_options(Arc::clone(engine.config_options()))
        .with_query_execution_start_time(started)
        .build();
    let callable = expr.transform_up(|expr| {
        let Expr::ScalarFunction(call) = expr else { return Ok(Transformed::no(expr)) };
        Ok(match call.func.simplify(call.args, &context)? {
            ExprSimplifyResult::Simplified(value) => Transformed::yes(value),
            ExprSimplifyResult::Original(args) => {
                Transformed::no(Expr::ScalarFunction(ScalarFunction { args, ..call }))
            }
        })
    })?;
    Ok(callable.data)
}
