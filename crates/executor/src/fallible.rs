//! Which expressions may fail.
//!
//! Comparisons of columns and constants, and AND, OR and NOT of them, cannot fail. They may be computed for rows that
//! PostgreSQL would skip. All other expressions count as those that may fail. They also cost more.

use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, LikeExpr, Literal, NotExpr,
};
use std::sync::Arc;

/// Whether an expression of a logical plan may fail. Its casts cannot: those that may fail are functions.
pub fn logical_may_fail(expression: &Expr) -> bool {
    let may_fail = |part: &Expr| {
        Ok(match part {
            Expr::BinaryExpr(binary) => !is_comparison(binary.op),
            Expr::Column(_) | Expr::OuterReferenceColumn(..) | Expr::Literal(..) => false,
            Expr::Between(_) | Expr::InList(_) | Expr::Like(_) => false,
            Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::Not(_) => false,
            Expr::Alias(_) | Expr::Cast(_) => false,
            _ => true,
        })
    };
    expression.exists(may_fail).unwrap_or(true)
}

/// Whether an expression of a physical plan may fail. Its casts count as such: the engine adds some of its own.
pub fn physical_may_fail(expression: &Arc<dyn PhysicalExpr>) -> bool {
    let may_fail = |part: &Arc<dyn PhysicalExpr>| {
        let is_safe = match part.downcast_ref::<BinaryExpr>() {
            Some(binary) => is_comparison(*binary.op()),
            None => {
                part.is::<Column>()
                    || part.is::<Literal>()
                    || part.is::<InListExpr>()
                    || part.is::<LikeExpr>()
                    || part.is::<IsNullExpr>()
                    || part.is::<IsNotNullExpr>()
                    || part.is::<NotExpr>()
            }
        };
        Ok(!is_safe)
    };
    expression.exists(may_fail).unwrap_or(true)
}

/// Whether an operator compares its operands, or is AND or OR.
fn is_comparison(op: Operator) -> bool {
    use Operator::{And, Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq, Or};
    matches!(op, And | Or | Eq | NotEq | Lt | LtEq | Gt | GtEq)
        || matches!(op, IsDistinctFrom | IsNotDistinctFrom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::DFSchema;
    use datafusion::logical_expr::execution_props::ExecutionProps;
    use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
    use datafusion::logical_expr::{col, lit};
    use datafusion::physical_expr::create_physical_expr;

    #[test]
    fn plans_of_both_kinds_agree() {
        let fields = vec![Field::new("x", DataType::Int64, true)];
        let schema = DFSchema::try_from(Schema::new(fields)).expect("a schema");
        let (props, context) = (ExecutionProps::new(), PhysicalPlanningContext::default());
        let safe = [
            col("x").lt(lit(1_i64)).or(col("x").is_null()),
            col("x").in_list(vec![lit(1_i64), lit(2_i64)], false),
            col("x").between(lit(1_i64), lit(2_i64)),
        ];
        let fallible = [lit(1_i64) / col("x"), -col("x"), (col("x") + lit(1_i64)).eq(lit(2_i64))];
        let cases = safe.map(|expr| (expr, false)).into_iter();
        for (expr, expected) in cases.chain(fallible.map(|expr| (expr, true))) {
            assert_eq!(logical_may_fail(&expr), expected, "{expr}");
            let physical = create_physical_expr(&expr, &schema, &props, &context);
            assert_eq!(physical_may_fail(&physical.expect("typed")), expected, "{expr}");
        }
    }
}
