//! IN with a subquery where NULL and false differ.
//!
//! DataFusion makes a join of IN, and the join answers false for NULL. In a filter that is no difference as long as only AND
//! and OR are above. NOT IN becomes a join that knows NULL if nothing is above but AND and the subquery is not correlated.
//! Everywhere else the subquery becomes a function, whose answer has three values.

use super::{Place, function_of};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use std::sync::Arc;

/// What is above a part of a filter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Above {
    /// Nothing or AND.
    And,
    /// AND and OR.
    Or,
    /// An expression for which NULL and false differ.
    Other,
}

/// Whether the engine's join gives the right answer for IN with a subquery.
fn is_join(within: &InSubquery, above: Above) -> bool {
    let correlated = !within.subquery.outer_ref_columns.is_empty();
    match (above, within.negated) {
        (Above::And | Above::Or, false) => true,
        (Above::And, true) => !correlated,
        _ => false,
    }
}

/// What is above the operands of an expression.
fn below(expr: &Expr, above: Above) -> Above {
    match (expr, above) {
        (Expr::BinaryExpr(BinaryExpr { op: Operator::And, .. }), above) => above,
        (Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }), Above::And | Above::Or) => {
            Above::Or
        }
        _ => Above::Other,
    }
}

/// Whether a filter of the plan has an IN that the engine misinterprets.
pub(super) fn is_in(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let walked = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::Filter(filter) = node {
            found = found || is_misread(&filter.predicate, Above::And);
        }
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || walked.is_err()
}

fn is_misread(expr: &Expr, above: Above) -> bool {
    if let Expr::InSubquery(within) = expr
        && !is_join(within, above)
    {
        return true;
    }
    let inner = below(expr, above);
    let mut found = false;
    let walked = expr.apply_children(|part| {
        found = found || is_misread(part, inner);
        Ok(TreeNodeRecursion::Continue)
    });
    found || walked.is_err()
}

/// A filter in which functions stand for what the engine misinterprets.
pub(super) fn of_filter(
    predicate: Expr,
    place: &Place,
    engine: &Arc<SessionState>,
) -> Result<Transformed<Expr>> {
    of_part(predicate, Above::And, place, engine)
}

fn of_part(
    expr: Expr,
    above: Above,
    place: &Place,
    engine: &Arc<SessionState>,
) -> Result<Transformed<Expr>> {
    if let Expr::InSubquery(within) = &expr
        && !is_join(within, above)
    {
        return function_of(expr, place, engine);
    }
    let inner = below(&expr, above);
    expr.map_children(|part| of_part(part, inner, place, engine))
}
