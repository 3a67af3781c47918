//! Moves subquery functions out of places where DataFusion does not call asynchronous functions: from
//! ORDER BY, GROUP BY, aggregates and window functions into a select list below, from join conditions
//! into a select list below or a filter above.

use super::unsupported;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, JoinType, Result};
use datafusion::logical_expr::async_udf::AsyncScalarUDF;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder};
use std::sync::Arc;

/// Begins the names of columns with the values of subquery functions.
const NAME: &str = "?subquery";

/// A node whose subquery functions are columns of its input.
pub(super) fn of_node(node: LogicalPlan) -> Result<LogicalPlan> {
    let adds_columns = match node {
        LogicalPlan::Join(join) => return of_join(join),
        LogicalPlan::Sort(_) | LogicalPlan::Window(_) => true,
        LogicalPlan::Aggregate(_) => false,
        other => return Ok(other),
    };
    let before = node.schema().columns();
    let names = NamePreserver::new(&node);
    let mut calls = Calls::over(&before);
    let node = node.map_expressions(|expr| {
        let name = names.save(&expr);
        let changed = calls.replaced(expr)?;
        Ok(if changed.transformed {
            changed.update_data(|expr| name.restore(expr))
        } else {
            changed
        })
    })?;
    let node = node.data;
    if calls.all.is_empty() {
        return Ok(node);
    }
    let input = with_columns(node.inputs()[0], calls.numbered().collect())?;
    let node = node.with_new_exprs(node.expressions(), vec![input])?;
    if adds_columns { only(node, before) } else { Ok(node) }
}

/// A join whose condition calls no subquery function. Calls over one side become columns of that
/// side. Conditions with calls over both sides of an inner join become a filter above.
fn of_join(mut join: Join) -> Result<LogicalPlan> {
    let before = join.schema.columns();
    let (left, right) = (Arc::clone(join.left.schema()), Arc::clone(join.right.schema()));
    let is_over = |call: &Expr, side: &DFSchema| {
        call.column_refs().iter().all(|column| side.has_column(column))
    };
    let is_over_both =
        |part: &Expr| Ok(is_call(part) && !is_over(part, &left) && !is_over(part, &right));
    let (mut calls, mut within, mut above) = (Calls::over(&before), Vec::new(), Vec::new());
    for condition in join.filter.take().into_iter().flat_map(split_conjunction_owned) {
        let needs_both = condition.exists(is_over_both)?;
        if needs_both && join.join_type != JoinType::Inner {
            let what = "a subquery over both sides of a full join in its condition";
            return Err(unsupported(what));
        }
        let place = if needs_both { &mut above } else { &mut within };
        place.push(calls.replaced(condition)?.data);
    }
    join.filter = conjunction(within);
    if calls.all.is_empty() {
        return Ok(LogicalPlan::Join(join));
    }
    let calls = calls.numbered();
    let (of_left, others): (Vec<_>, Vec<_>) = calls.partition(|(_, call)| is_over(call, &left));
    let (of_right, of_both) = others.into_iter().partition(|(_, call)| is_over(call, &right));
    join.left = Arc::new(with_columns(&join.left, of_left)?);
    join.right = Arc::new(with_columns(&join.right, of_right)?);
    let plan = with_columns(&LogicalPlan::Join(join).recompute_schema()?, of_both)?;
    let plan = match conjunction(above) {
        Some(condition) => LogicalPlanBuilder::from(plan).filter(condition)?.build()?,
        None => plan,
    };
    only(plan, before)
}

/// The distinct calls of subquery functions that columns replace.
struct Calls {
    /// The number of the first one: a plan below may have such columns, too.
    first: usize,
    all: Vec<Expr>,
}

impl Calls {
    fn over(columns: &[Column]) -> Self {
        let known =
            columns.iter().filter_map(|column| column.name.strip_prefix(NAME)?.parse().ok());
        Self { first: known.max().map_or(0, |last: usize| last + 1), all: Vec::new() }
    }

    fn numbered(self) -> impl Iterator<Item = (usize, Expr)> {
        (self.first..).zip(self.all)
    }

    /// An expression with columns instead of calls.
    fn replaced(&mut self, expr: Expr) -> Result<Transformed<Expr>> {
        expr.transform_down(|part| {
            if !is_call(&part) {
                return Ok(Transformed::no(part));
            }
            let known = self.all.iter().position(|known| *known == part);
            let place = known.unwrap_or(self.all.len());
            if known.is_none() {
                self.all.push(part);
            }
            Ok(Transformed::yes(Expr::Column(column(self.first + place))))
        })
    }
}

fn is_call(expr: &Expr) -> bool {
    matches!(expr, Expr::ScalarFunction(call)
        if call.func.inner().downcast_ref::<AsyncScalarUDF>().is_some())
}

/// A plan with calls as further columns.
fn with_columns(plan: &LogicalPlan, calls: Vec<(usize, Expr)>) -> Result<LogicalPlan> {
    if calls.is_empty() {
        return Ok(plan.clone());
    }
    let own = plan.schema().columns().into_iter().map(Expr::Column);
    let calls = calls.into_iter().map(|(place, call)| call.alias(column(place).name));
    let all: Vec<Expr> = own.chain(calls).collect();
    LogicalPlanBuilder::from(plan.clone()).project(all)?.build()
}

/// Some columns of a plan.
fn only(plan: LogicalPlan, columns: Vec<Column>) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan).project(columns.into_iter().map(Expr::Column))?.build()
}

/// The column of the call at a place.
fn column(place: usize) -> Column {
    Column::from_name(format!("{NAME}{place}"))
}
