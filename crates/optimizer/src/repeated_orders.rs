//! Removes sort expressions of aggregates that say nothing: repeated ones, as in
//! `array_agg(x ORDER BY y, y)`, and those of aggregates that ignore order, as in `sum(x ORDER BY y)`.
//!
//! DISTINCT ON becomes such an aggregate, too. DataFusion's accumulators count the sort expressions
//! as they are written, but are given their values without repetitions, and panic. Those of some
//! aggregates that ignore order do not expect values of sort expressions.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Aggregates that ignore order, although the engine does not know it.
const ORDERLESS: &[&str] = &[
    "avg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bool_and",
    "bool_or",
    "corr",
    "count",
    "covar",
    "covar_pop",
    "covar_samp",
    "first_greatest_value",
    "first_least_value",
    "float_avg",
    "float_sum",
    "greatest_value",
    "least_value",
    "max",
    "min",
    "real_sum",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "var",
    "var_pop",
    "var_samp",
    "var_sample",
    "variance",
];

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
    if ORDERLESS.contains(&func.name()) {
        params.order_by.clear();
    }
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
