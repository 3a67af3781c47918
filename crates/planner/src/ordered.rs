//! ORDER BY a column of FROM that shares its name with a computed column:
//! `SELECT v::text AS v FROM t ORDER BY t.v`.
//!
//! DataFusion resolves ORDER BY over the columns of the result and of FROM together, which may not
//! share a name. The sort keys become columns of an inner select in which all columns have names
//! that no user can write. The outer select sorts by them.

use super::dialect::array_queries::{query_of, select_of};
use super::scopes::Scopes;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr,
    TableAlias, TableFactor, TableWithJoins,
};
use parser::names::fold;
use parser::walk::visit_expressions;
use std::ops::ControlFlow;

/// The alias of the inner select and the prefix of its columns.
const ORDERED: &str = "?ordered";
/// The prefix of the columns with sort keys.
const KEY: &str = "?key";

/// Rewrites a query whose sort keys clash with computed columns.
pub(super) fn rewrite(query: &mut Query, scopes: &Scopes<'_>) {
    let Some(names) = clashing(query, scopes) else { return };
    let SetExpr::Select(inner) = &mut *query.body else { return };
    let mut items = Vec::with_capacity(names.len());
    for (index, item) in inner.projection.iter_mut().enumerate() {
        if let SelectItem::ExprWithAlias { expr, .. } | SelectItem::UnnamedExpr(expr) = item {
            let hidden = ident(&format!("{ORDERED}{index}"));
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: hidden.clone() };
            let (expr, alias) = (Expr::Identifier(hidden), ident(&names[index]));
            items.push(SelectItem::ExprWithAlias { expr, alias });
        }
    }
    let mut outer = query_of(select_of(items));
    outer.limit_clause = query.limit_clause.take();
    outer.fetch = query.fetch.take();
    outer.order_by.clone_from(&query.order_by);
    for (index, order) in orders_mut(&mut outer).iter_mut().enumerate() {
        if is_of_result(&order.expr, &names) {
            continue;
        }
        let key = ident(&format!("{KEY}{index}"));
        let expr = std::mem::replace(&mut order.expr, Expr::Identifier(key.clone()));
        inner.projection.push(SelectItem::ExprWithAlias { expr, alias: key });
    }
    // DISTINCT ON depends on the order, so the inner query keeps it.
    if inner.distinct.is_none() {
        query.order_by = None;
    }
    let inner = std::mem::replace(query, outer);
    if let SetExpr::Select(outer) = &mut *query.body {
        outer.from = vec![table(inner)];
    }
}

/// Whether a sort key is a column of the result, by name or by number.
fn is_of_result(order: &Expr, names: &[String]) -> bool {
    match order {
        Expr::Identifier(name) => names.contains(&fold(name)),
        Expr::Value(_) => true,
        _ => false,
    }
}

fn ident(name: &str) -> Ident {
    Ident::with_quote('"', name)
}

fn table(query: Query) -> TableWithJoins {
    let alias = TableAlias { explicit: true, name: ident(ORDERED), columns: Vec::new(), at: None };
    let (subquery, alias) = (Box::new(query), Some(alias));
    let relation = TableFactor::Derived { lateral: false, subquery, alias, sample: None };
    TableWithJoins { relation, joins: Vec::new() }
}

/// The names of a query's columns; `None` if no sort key clashes with a computed column.
fn clashing(query: &Query, scopes: &Scopes<'_>) -> Option<Vec<String>> {
    let SetExpr::Select(select) = &*query.body else { return None };
    if select.into.is_some() || matches!(select.distinct, Some(Distinct::Distinct)) {
        return None;
    }
    let items: Option<Vec<(String, bool)>> = select.projection.iter().map(named).collect();
    let items = items?;
    let is_computed = |name: &String| items.iter().any(|(own, computed)| *computed && own == name);
    if !items.iter().any(|(_, computed)| *computed) {
        return None;
    }
    let clashes =
        orders(query).iter().any(|order| clashes(&order.expr, select, scopes, is_computed));
    clashes.then(|| items.into_iter().map(|(name, _)| name).collect())
}

/// The name of an item, and whether it is computed, that is, not a column of that name.
fn named(item: &SelectItem) -> Option<(String, bool)> {
    match item {
        SelectItem::ExprWithAlias { expr, alias } => {
            let name = fold(alias);
            let is_column = column(expr).is_some_and(|column| column == name);
            Some((name, !is_column))
        }
        SelectItem::UnnamedExpr(expr) => column(expr).map(|name| (name, false)),
        _ => None,
    }
}

fn column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(fold(name)),
        Expr::CompoundIdentifier(parts) => parts.last().map(fold),
        _ => None,
    }
}

/// Whether a sort key contains a column of FROM that has the name of a computed column. An
/// unqualified name by itself refers to the computed column.
fn clashes(
    order: &Expr,
    select: &Select,
    scopes: &Scopes<'_>,
    is_computed: impl Fn(&String) -> bool,
) -> bool {
    if matches!(order, Expr::Identifier(_)) {
        return false;
    }
    let is_read = |name: &String| {
        let mut read = scopes.read_by(select).into_iter();
        read.any(|relation| relation.columns.is_some_and(|columns| columns.contains(name)))
    };
    let found = visit_expressions(order, |expr| {
        let clashes = match expr {
            Expr::CompoundIdentifier(parts) => {
                parts.last().is_some_and(|name| is_computed(&fold(name)))
            }
            Expr::Identifier(name) => is_computed(&fold(name)) && is_read(&fold(name)),
            _ => false,
        };
        if clashes { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found.is_break()
}

fn orders(query: &Query) -> &[OrderByExpr] {
    match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(orders)) => orders,
        _ => &[],
    }
}

fn orders_mut(query: &mut Query) -> &mut [OrderByExpr] {
    match query.order_by.as_mut().map(|order| &mut order.kind) {
        Some(OrderByKind::Expressions(orders)) => orders,
        _ => &mut [],
    }
}
