//! Applies a change to all expressions of a plan and keeps the names of columns.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// Calls `change` for each expression of a plan and its subqueries that has a part for which
/// `concerns` is true. `change` receives the columns in scope.
pub(super) fn changed(
    plan: LogicalPlan,
    concerns: impl Fn(&Expr) -> bool,
    change: impl Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<LogicalPlan> {
    let is_concerned = |expr: &Expr| expr.exists(|part| Ok(concerns(part)));
    let plan = plan.transform_up_with_subqueries(|node| {
        let mut found = false;
        node.apply_expressions(|expr| {
            found = is_concerned(expr)?;
            Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
        })?;
        if !found {
            return Ok(Transformed::no(node));
        }
        let names = NamePreserver::new(&node);
        let schema = merge_schema(&node.inputs());
        node.map_expressions(|expr| {
            if !is_concerned(&expr)? {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            Ok(change(expr, &schema)?.update_data(|expr| name.restore(expr)))
        })
    })?;
    Ok(plan.data)
}
