//! The order that a subquery gives its rows, for those who read them.
//!
//! An aggregate such as `array_agg` takes rows in the order in which they come, `row_number() OVER ()` numbers them in it, and
//! a SELECT without ORDER BY returns them so. The engine knows no such order: it drops a sort that nothing asks for. So who
//! reads the rows asks for it, also by values that the subquery does not return: they become columns behind its own.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::{
    Expr, Filter, Limit, LogicalPlan, Projection, SubqueryAlias, Window,
};
use grammar::growing;
use std::sync::Arc;

/// Begins the names of columns that only the order needs, which no user can write.
const KEY: &str = "?order";

/// A plan whose rows are in an order.
pub struct Carried {
    /// The plan, with columns for the order behind its own.
    pub plan: LogicalPlan,
    /// The order, over the columns of the plan.
    pub order: Vec<Sort>,
}

/// The order of a plan's rows. `None` if they have none.
///
/// # Errors
/// Those of making plans.
pub fn carried(plan: &LogicalPlan) -> Result<Option<Carried>> {
    growing(|| carried_here(plan))
}

fn carried_here(plan: &LogicalPlan) -> Result<Option<Carried>> {
    match plan {
        LogicalPlan::Sort(sort) => {
            let order = sort.expr.clone();
            let is_fixed = !order.iter().any(|key| key.expr.is_volatile());
            Ok(is_fixed.then(|| Carried { plan: plan.clone(), order }))
        }
        LogicalPlan::Limit(limit) => {
            let Some(Carried { plan, order }) = carried(&limit.input)? else { return Ok(None) };
            let limit = Limit { input: Arc::new(plan), ..limit.clone() };
            Ok(Some(Carried { plan: LogicalPlan::Limit(limit), order }))
        }
        LogicalPlan::Filter(filter) => {
            let Some(Carried { plan, order }) = carried(&filter.input)? else { return Ok(None) };
            let filter = Filter::try_new(filter.predicate.clone(), Arc::new(plan))?;
            Ok(Some(Carried { plan: LogicalPlan::Filter(filter), order }))
        }
        LogicalPlan::Window(window) => {
            let Some(Carried { plan, order }) = carried(&window.input)? else { return Ok(None) };
            if !window.window_expr.iter().all(|call| keeps(call, &order)) {
                return Ok(None);
            }
            let window = Window::try_new(window.window_expr.clone(), Arc::new(plan))?;
            Ok(Some(Carried { plan: LogicalPlan::Window(window), order }))
        }
        LogicalPlan::Projection(projection) => match carried(&projection.input)? {
            Some(input) => projected(projection, input).map(Some),
            None => Ok(None),
        },
        LogicalPlan::SubqueryAlias(alias) => match carried(&alias.input)? {
            Some(input) => aliased(alias, input).map(Some),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Whether a window function reads its rows in an order, and so leaves them in it.
fn keeps(call: &Expr, order: &[Sort]) -> bool {
    match call {
        Expr::WindowFunction(window) => {
            let params = &window.params;
            params.partition_by.is_empty()
                && (params.order_by.is_empty() || params.order_by == order)
        }
        Expr::Alias(alias) => keeps(&alias.expr, order),
        _ => false,
    }
}

fn projected(projection: &Projection, input: Carried) -> Result<Carried> {
    let mut exprs = projection.expr.clone();
    let mut places = Vec::with_capacity(input.order.len());
    for key in &input.order {
        let is_key = |expr: &Expr| match expr {
            Expr::Alias(alias) => *alias.expr == key.expr,
            other => *other == key.expr,
        };
        let known = exprs.iter().position(is_key);
        let place = known.unwrap_or(exprs.len());
        if known.is_none() {
            exprs.push(key.expr.clone().alias(format!("{KEY}{place}")));
        }
        places.push(place);
    }
    let plan = LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(input.plan))?);
    let columns = plan.schema().columns();
    let order = input.order.into_iter().zip(places);
    let order =
        order.map(|(key, place)| Sort { expr: Expr::Column(columns[place].clone()), ..key });
    let order = order.collect();
    Ok(Carried { plan, order })
}

fn aliased(alias: &SubqueryAlias, input: Carried) -> Result<Carried> {
    let before = input.plan.schema().columns();
    let alias = SubqueryAlias::try_new(Arc::new(input.plan), alias.alias.clone())?;
    let plan = LogicalPlan::SubqueryAlias(alias);
    let after = plan.schema().columns();
    let renamed = |column: &Column| {
        let place = before.iter().position(|known| known == column)?;
        after.get(place).cloned()
    };
    let rename = |expr: Expr| {
        let new = match &expr {
            Expr::Column(column) => renamed(column),
            _ => None,
        };
        Ok(new.map_or_else(|| Transformed::no(expr), |new| Transformed::yes(Expr::Column(new))))
    };
    let order = input.order.into_iter().map(|key| {
        let expr = key.expr.transform(rename)?.data;
        Ok(Sort { expr, ..key })
    });
    let order = order.collect::<Result<_>>()?;
    Ok(Carried { plan, order })
}
