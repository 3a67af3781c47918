//! Computes the keys of windows and of ordered aggregates before they are sorted by.
//!
//! `string_agg(s, ',' ORDER BY length(s) > 1)`: the engine does not always recognise that rows are in the order of an operator,
//! because it computes the bounds of its operands, and has no type for those of functions and none of a division by zero. It
//! refuses its own plan. A projection makes columns of such keys, whose order is known.
//!
//! Keys that call volatile functions become columns, too: the engine would compute them where it sorts the rows, and again
//! where it compares them.
//!
//! The keys of an aggregate with FILTER are computed for its rows only: others may make them fail.
//!
//! Arguments and filters of windows become columns where they have AND or OR, whose second operand a projection computes
//! only for the rows that need it.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Expr, LogicalPlan, LogicalPlanBuilder, Operator, Window, col, when,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use executor::logical_may_fail;
use std::sync::Arc;

/// The rule of the logical optimizer. It is the last but one.
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
        let keys: Vec<(Key, String)> = named.collect();
        let columns = input.schema().columns().into_iter().map(Expr::Column);
        let computed = keys.iter().map(|(key, name)| Ok(key.computed()?.alias(name)));
        let computed = computed.collect::<Result<Vec<_>>>()?;
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

/// A key, and the condition of the rows that have it.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    expr: Expr,
    filter: Option<Expr>,
}

impl Key {
    fn computed(&self) -> Result<Expr> {
        match &self.filter {
            Some(filter) => when(filter.clone(), self.expr.clone()).end(),
            None => Ok(self.expr.clone()),
        }
    }
}

/// The keys of a call, and the condition of its rows; `None` for other expressions.
fn keys_of(part: &Expr) -> Option<(&[Expr], &[Sort], Option<&Expr>)> {
    match part {
        Expr::WindowFunction(call) => {
            Some((&call.params.partition_by, &call.params.order_by, None))
        }
        Expr::AggregateFunction(AggregateFunction { params, .. }) => {
            Some((&[], &params.order_by, params.filter.as_deref()))
        }
        _ => None,
    }
}

/// Adds the keys of which the engine may not know an order, and volatile ones.
fn unknown_keys(expr: &Expr, keys: &mut Vec<Key>) -> Result<()> {
    expr.apply(|part| {
        let Some((partitions, order, filter)) = keys_of(part) else {
            return Ok(TreeNodeRecursion::Continue);
        };
        for expr in partitions.iter().chain(order.iter().map(|sort| &sort.expr)) {
            let key = Key { expr: expr.clone(), filter: filter.cloned() };
            if !keys.contains(&key) && (expr.is_volatile() || has_operator(expr)?) {
                keys.push(key);
            }
        }
        for expr in undecided_parts(part) {
            let key = Key { expr: expr.clone(), filter: None };
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(TreeNodeRecursion::Jump)
    })?;
    Ok(())
}

/// The arguments and the filter of a window function whose AND or OR may have to skip an operand.
fn undecided_parts(part: &Expr) -> impl Iterator<Item = &Expr> {
    let params = match part {
        Expr::WindowFunction(call) => Some(&call.params),
        _ => None,
    };
    let parts =
        params.into_iter().flat_map(|params| params.args.iter().chain(params.filter.as_deref()));
    parts.filter(|part| logical_may_fail(part) && has_logic(part))
}

fn has_logic(expr: &Expr) -> bool {
    let is_logic = |op: Operator| matches!(op, Operator::And | Operator::Or);
    expr.exists(|part| Ok(matches!(part, Expr::BinaryExpr(binary) if is_logic(binary.op))))
        .unwrap_or(false)
}

fn has_operator(key: &Expr) -> Result<bool> {
    key.exists(|part| Ok(matches!(part, Expr::BinaryExpr(_) | Expr::Not(_) | Expr::Negative(_))))
}

/// An expression over the columns that have been made of keys.
fn with_columns(expr: Expr, keys: &[(Key, String)]) -> Result<Expr> {
    expr.transform_down(|call| {
        let Some((_, _, filter)) = keys_of(&call) else { return Ok(Transformed::no(call)) };
        let filter = filter.cloned();
        let column = |part: Expr| {
            let is_it = |(key, _): &&(Key, String)| key.expr == part && key.filter == filter;
            Ok(match keys.iter().find(is_it) {
                Some((_, name)) => Transformed::new(col(name), true, TreeNodeRecursion::Jump),
                None => Transformed::no(part),
            })
        };
        let call = call.map_children(|part| part.transform_down(column))?;
        Ok(Transformed::new(call.data, true, TreeNodeRecursion::Jump))
    })
    .data()
}
