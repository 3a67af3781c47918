//! Computes volatile arguments and filters of windows once for each row, in the order of the window.
//!
//! `sum(nextval('s')) OVER (ORDER BY k)`: the engine would compute the argument when it collects the rows, and again when it
//! computes the frames. A projection over the sorted rows makes columns of such arguments. Where FILTER leaves a row out, its
//! arguments are not computed.

use datafusion::common::Result;
use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::generate_sort_key;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Window, col, when};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::mem;
use std::sync::Arc;

/// The rule of the logical optimizer. It runs after [`ComputedKeys`](crate::ComputedKeys), which makes columns of volatile keys.
#[derive(Debug)]
pub struct VolatileArguments;

impl OptimizerRule for VolatileArguments {
    fn name(&self) -> &str {
        "volatile_arguments"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Window(window) = &plan else { return Ok(Transformed::no(plan)) };
        let names = NamePreserver::new(&plan);
        let mut columns = Vec::new();
        let calls = window.window_expr.iter().map(|expr| {
            let name = names.save(expr);
            Ok(name.restore(over_columns(expr.clone(), config.alias_generator(), &mut columns)?))
        });
        let calls = calls.collect::<Result<Vec<_>>>()?;
        if columns.is_empty() {
            return Ok(Transformed::no(plan));
        }
        let mut input = LogicalPlanBuilder::from(Arc::clone(&window.input));
        let order = order_of(&window.window_expr)?;
        if !order.is_empty() && !order.iter().any(|sort| sort.expr.is_volatile()) {
            input = input.sort(order)?;
        }
        let read = window.input.schema().columns().into_iter().map(Expr::Column);
        let input = Arc::new(input.project(read.chain(columns))?.build()?);
        let all = plan.schema().columns().into_iter().map(Expr::Column);
        let window = LogicalPlan::Window(Window::try_new(calls, input)?);
        LogicalPlanBuilder::from(window).project(all)?.build().map(Transformed::yes)
    }
}

/// A call of a window function over columns in the place of its volatile arguments and its volatile filter. The columns are
/// added to `columns`.
fn over_columns(expr: Expr, names: &AliasGenerator, columns: &mut Vec<Expr>) -> Result<Expr> {
    let mut column = |value: Expr| {
        let name = names.next("__argument");
        columns.push(value.alias(&name));
        col(name)
    };
    expr.transform_down(|part| {
        let Expr::WindowFunction(mut call) = part else { return Ok(Transformed::no(part)) };
        let params = &mut call.params;
        let filter = params.filter.as_deref().filter(|filter| !filter.is_volatile()).cloned();
        for argument in params.args.iter_mut().filter(|argument| argument.is_volatile()) {
            let value = mem::take(argument);
            *argument = column(match &filter {
                Some(filter) => when(filter.clone(), value).end()?,
                None => value,
            });
        }
        if let Some(filter) = params.filter.as_mut().filter(|filter| filter.is_volatile()) {
            **filter = column(mem::take(&mut **filter));
        }
        Ok(Transformed::new(Expr::WindowFunction(call), true, TreeNodeRecursion::Jump))
    })
    .data()
}

/// The order in which windows read their rows, which is the same for all windows of a node.
fn order_of(calls: &[Expr]) -> Result<Vec<Sort>> {
    let mut order = Vec::new();
    if let Some(call) = calls.first() {
        call.apply(|part| {
            let Expr::WindowFunction(call) = part else { return Ok(TreeNodeRecursion::Continue) };
            let keys = generate_sort_key(&call.params.partition_by, &call.params.order_by)?;
            order = keys.into_iter().map(|(key, _)| key).collect();
            Ok(TreeNodeRecursion::Stop)
        })?;
    }
    Ok(order)
}
