//! `SELECT v::text FROM t ORDER BY t.v`: rows in the order of a column that shares its name with what is computed from it.
//!
//! The engine looks for what rows are ordered by among the columns of the result and of FROM at once, where the two may not
//! share a name. So what they are ordered by becomes columns, too, of a select inside the one that orders: there every column
//! has a name that no one can write.

use super::dialect::array_queries::{query_of, select_of};
use super::scopes::Scopes;
use crate::parser::names::fold;
use datafusion::sql::sqlparser::ast::{
    Distinct, Expr, Ident, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr,
    TableAlias, TableFactor, TableWithJoins,
};
use std::ops::ControlFlow;
use syntax::visit_expressions;

/// What the rows are called that are ordered, and, with numbers, their columns.
const ORDERED: &str = "?ordered";
/// What columns are called, with numbers, that rows are ordered by.
const KEY: &str = "?key";

/// The query with its order by columns of FROM, where their names are also those of computed ones.
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
    // What is first among equals depends on the order, too.
    if inner.distinct.is_none() {
        query.order_by = None;
    }
    let inner = std::mem::replace(query, outer);
    if let SetExpr::Select(outer) = &mut *query.body {
        outer.from = vec![table(inner)];
    }
}

/// Whether rows are ordered by a column of the result: by its name or its number.
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

/// The names of a query's columns, where it is ordered by a column of FROM with the name of a computed one.
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

/// The name of an item, and whether it is more than a column of that name.
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

/// Whether what rows are ordered by has a column of FROM in it whose name a computed column has. By itself a name without
/// its table is the computed one.
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
