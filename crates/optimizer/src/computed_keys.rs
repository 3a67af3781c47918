//! Computes the keys of windows and of ordered aggregates before they are sorted by.
//!
//! `string_agg(s, ',' ORDER BY length(s) > 1)`: the engine does not recognise that rows are in the order of an operator over
//! a function's result, because it compares the bounds of two values and has no type for those of functions. It refuses its
//! own plan. A projection makes columns of such keys, whose order is known.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{AggregateFunction, Sort, WindowFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Window, col};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

/// The rule of the logical optimizer. It is the last one.
#[derive(Debug)]
pub struct ComputedKeys;

impl OptimizerRule for ComputedKeys {
    fn name(&self) -> &str {
        "computed_keys"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let (exprs, input) = match &plan {
            LogicalPlan::Window(window) => (&window.window_expr, &window.input),
            LogicalPlan::Aggregate(aggregate) => (&aggregate.aggr_expr, &aggregate.input),
            _ => return Ok(Transformed::no(plan)),
        };
        let mut keys = Vec::new();
        for expr in exprs {
            unknown_keys(expr, &mut keys)?;
        }
        if keys.is_empty() {
            return Ok(Transformed::no(plan));
        }
        let named = keys.into_iter().map(|key| (key, config.alias_generator().next("__key")));
        let keys: Vec<(Expr, String)> = named.collect();
        let columns = input.schema().columns().into_iter().map(Expr::Column);
        let computed = keys.iter().map(|(key, name)| key.clone().alias(name));
        let input = LogicalPlanBuilder::from(Arc::clone(input)).project(columns.chain(computed))?;
        let input = Arc::new(input.build()?);
        let names = NamePreserver::new(&plan);
        let all = plan.schema().columns();
        let replaced = |exprs: Vec<Expr>| -> Result<Vec<Expr>> {
            let replaced = exprs.into_iter().map(|expr| {
                let name = names.save(&expr);
                Ok(name.restore(with_columns(expr, &keys)?))
            });
            replaced.collect()
        };
        Ok(Transformed::yes(match plan {
            LogicalPlan::Window(Window { window_expr, .. }) => {
                let window = LogicalPlan::Window(Window::try_new(replaced(window_expr)?, input)?);
                LogicalPlanBuilder::from(window)
                    .project(all.into_iter().map(Expr::Column))?
                    .build()?
            }
            LogicalPlan::Aggregate(Aggregate { group_expr, aggr_expr, .. }) => {
                let aggr_expr = replaced(aggr_expr)?;
                LogicalPlan::Aggregate(Aggregate::try_new(input, group_expr, aggr_expr)?)
            }
            plan => plan,
        }))
    }
}

/// Adds the keys of which the engine does not know an order.
fn unknown_keys(expr: &Expr, keys: &mut Vec<Expr>) -> Result<()> {
    expr.apply(|part| {
        let (partitions, order): (&[Expr], &[Sort]) = match part {
            Expr::WindowFunction(call) => {
                let WindowFunction { params, .. } = &**call;
                (&params.partition_by, &params.order_by)
            }
            Expr::AggregateFunction(AggregateFunction { params, .. }) => (&[], &params.order_by),
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        for key in partitions.iter().chain(order.iter().map(|sort| &sort.expr)) {
            if !keys.contains(key) && !key.is_volatile() && has_operator_over_function(key)? {
                keys.push(key.clone());
            }
        }
        Ok(TreeNodeRecursion::Jump)
    })?;
    Ok(())
}

fn has_operator_over_function(key: &Expr) -> Result<bool> {
    key.exists(|part| match part {
        Expr::BinaryExpr(_) | Expr::Not(_) | Expr::Negative(_) => {
            part.exists(|part| Ok(matches!(part, Expr::ScalarFunction(_))))
        }
        _ => Ok(false),
    })
}

/// An expression over the columns that have been made of keys.
fn with_columns(expr: Expr, keys: &[(Expr, String)]) -> Result<Expr> {
    expr.transform_down(|part| {
        Ok(match keys.iter().find(|(key, _)| *key == part) {
            Some((_, name)) => Transformed::yes(col(name.as_str())),
            None => Transformed::no(part),
        })
    })
    .data()
}
