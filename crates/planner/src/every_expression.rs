//! Analysis rules that change expressions wherever they stand in a plan, and leave columns their names.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The plan with each expression changed that has a part which `concerns` the rule, also in subqueries. `change` is given
/// the columns that the expression can see.
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
