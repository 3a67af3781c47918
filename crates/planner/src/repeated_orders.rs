//! Removes repeated sort expressions of aggregates: `array_agg(x ORDER BY y, y)`.
//!
//! DISTINCT ON becomes such an aggregate, too. DataFusion's accumulators count the sort expressions
//! as they are written, but are given their values without repetitions, and panic.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rule of the logical optimizer. It runs after the rules that make expressions equal.
#[derive(Debug)]
pub struct RepeatedOrders;

impl OptimizerRule for RepeatedOrders {
    fn name(&self) -> &str {
        "repeated_orders"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        if !matches!(plan, LogicalPlan::Aggregate(_)) {
            return Ok(Transformed::no(plan));
        }
        let names = NamePreserver::new(&plan);
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let changed = expr.transform_up(|part| Ok(without_repetitions(part)))?;
            Ok(if changed.transformed {
                changed.update_data(|expr| name.restore(expr))
            } else {
                changed
            })
        })
    }
}

fn without_repetitions(expr: Expr) -> Transformed<Expr> {
    let Expr::AggregateFunction(AggregateFunction { func, mut params }) = expr else {
        return Transformed::no(expr);
    };
    let before = params.order_by.len();
    let mut seen: Vec<Expr> = Vec::new();
    params.order_by.retain(|Sort { expr, .. }| {
        let expr = expr.clone().unalias_nested().data;
        let is_new = !seen.contains(&expr);
        if is_new {
            seen.push(expr);
        }
        is_new
    });
    let changed = params.order_by.len() < before;
    let expr = Expr::AggregateFunction(AggregateFunction { func, params });
    Transformed::new_transformed(expr, changed)
}
