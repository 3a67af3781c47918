//! Large values that an operator or function may copy for each row: those of subqueries, long constants, and calls of constants.
//!
//! They pass through [`copied()`], which refuses them where there is no memory for the copies. Comparisons do not
//! copy their operands, and stay as they are, so that the engine recognises them.

use super::copied::copied;
use super::{SMALL_BYTES, growing};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The optimized plan with limits on the copies of its values.
///
/// # Errors
/// Errors of the engine.
pub fn limited_copies(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_down_with_subqueries(|plan| {
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            if !expr.exists(|expr| Ok(may_be_large(expr)))? {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            Ok(limited_expression(expr)?.update_data(|expr| name.restore(expr)))
        })
    })?;
    Ok(plan.data)
}

fn limited_expression(expr: Expr) -> Result<Transformed<Expr>> {
    expr.transform_down(|expr| {
        if may_be_large(&expr) {
            return Ok(Transformed::new(copied(expr), true, TreeNodeRecursion::Jump));
        }
        if !compares(&expr) {
            return Ok(Transformed::no(expr));
        }
        let expr = expr.map_children(|child| match may_be_large(&child) {
            true => Ok(Transformed::no(child)),
            false => limited_expression(child),
        })?;
        Ok(Transformed::new(expr.data, expr.transformed, TreeNodeRecursion::Jump))
    })
}

/// Whether an expression compares its operands, without a column of each.
fn compares(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(binary) => binary.op.supports_propagation(),
        Expr::Like(_) | Expr::InList(_) | Expr::Between(_) => true,
        Expr::IsNull(_) | Expr::IsNotNull(_) => true,
        _ => false,
    }
}

fn may_be_large(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value, _) => is_of_any_length(&value.data_type()) && is_long(value),
        Expr::ScalarSubquery(subquery) => {
            let fields = subquery.subquery.schema().fields();
            subquery.outer_ref_columns.is_empty()
                && fields.first().is_some_and(|field| is_of_any_length(field.data_type()))
        }
        Expr::ScalarFunction(call) => growing::is_growing(&call.func) && is_constant(expr),
        _ => false,
    }
}

/// Whether an expression has the same value in each row. The optimizer keeps such a call if its value is large.
fn is_constant(expr: &Expr) -> bool {
    !expr.is_volatile() && !expr.any_column_refs() && !expr.contains_outer()
}

fn is_of_any_length(data_type: &DataType) -> bool {
    data_type.is_nested() || data_type.is_string() || data_type.is_binary()
}

fn is_long(value: &ScalarValue) -> bool {
    value.size() > SMALL_BYTES
}
