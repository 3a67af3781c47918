//! Statements that the engine's planner cannot plan for a session with another time zone than UTC.
//!
//! The engine converts timestamps with time zone by UTC. Until all statements are planned from typed trees, which name
//! every conversion, those that convert such a value are refused here instead of being answered in the wrong zone.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use values::error::Error;
use values::style::Style;
use values::translate::external;

/// Functions whose values depend on the zone, whatever they are of.
const LOCAL: [&str; 2] = ["current_date", "current_time"];

/// Functions of timestamps with time zone that do not depend on it.
const NEUTRAL: [&str; 7] =
    ["now", "clock_timestamp", "coalesce", "nullif", "greatest", "least", "make_array"];

/// The plan, unless it has timestamps with time zone that the session's zone would change.
pub fn refuse_in_plan(plan: LogicalPlan, options: &ConfigOptions) -> Result<LogicalPlan> {
    if Style::from_config(options).zone.is_utc() {
        return Ok(plan);
    }
    plan.apply_with_subqueries(|node| {
        let inputs = node.inputs();
        let schema = inputs.first().map_or_else(|| node.schema().as_ref(), |input| input.schema());
        node.apply_expressions(|expr| {
            refuse_in(expr, schema)?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(plan)
}

/// The expression, unless it has timestamps with time zone that the session's zone would change.
pub fn refuse_in_expression(
    expr: Expr,
    schema: &DFSchema,
    options: &ConfigOptions,
) -> Result<Expr> {
    if !Style::from_config(options).zone.is_utc() {
        refuse_in(&expr, schema)?;
    }
    Ok(expr)
}

fn refuse_in(expr: &Expr, schema: &DFSchema) -> Result<()> {
    let is_of_moment = |part: &Expr| part.get_type(schema).is_ok_and(|of| is_moment(&of));
    expr.apply(|part| {
        let is_local = match part {
            Expr::Literal(value, _) => !value.is_null() && is_moment(&value.data_type()),
            Expr::Cast(cast) => is_of_moment(&cast.expr) != is_moment(cast.field.data_type()),
            Expr::BinaryExpr(pair) => is_of_moment(&pair.left) != is_of_moment(&pair.right),
            Expr::ScalarFunction(call) if NEUTRAL.contains(&call.name()) => false,
            Expr::ScalarFunction(call) => {
                LOCAL.contains(&call.name())
                    || is_of_moment(part)
                    || call.args.iter().any(is_of_moment)
            }
            _ => false,
        };
        if is_local { Err(refused()) } else { Ok(TreeNodeRecursion::Continue) }
    })?;
    Ok(())
}

fn is_moment(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(_, zone) => zone.is_some(),
        DataType::List(item) => is_moment(item.data_type()),
        _ => false,
    }
}

fn refused() -> datafusion::common::DataFusionError {
    let what = "a conversion of a timestamp with time zone is not supported here with a TimeZone other than UTC";
    external(Error::unsupported(what))
}
