//! PostgreSQL's names of columns without an alias: `format_type`, `count`, `case`, `?column?`.
//!
//! Drivers and tools look columns up by these names. DataFusion would use the whole expression.

use super::build::{last, type_name};
use crate::unique_names;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, Expr, Ident, Query, Select, SelectItem, SetExpr, Statement, VisitorMut,
};
use parser::names::fold;
use parser::walk::visit_mut;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// The function whose arguments are a long chain of operators: the operators, then the operands. No user can write its
/// name without quotes. Like an operator, it suggests no name.
pub(crate) const CHAIN: &str = "?chain";

/// The name of a column whose expression suggests none.
const UNNAMED: &str = "?column?";

pub(super) fn rewrite(statement: &mut Statement) {
    struct Selects;
    impl VisitorMut for Selects {
        type Break = ();
        fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            name_columns(select);
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Selects);
}

fn name_columns(select: &mut Select) {
    let mut taken = HashSet::new();
    for item in &select.projection {
        match item {
            SelectItem::ExprWithAlias { alias, .. } => taken.extend([fold(alias)]),
            SelectItem::UnnamedExpr(expr) => taken.extend(plain_column(expr)),
            // The columns of an asterisk are unknown here, and names must not repeat.
            _ => return,
        }
    }
    for (position, item) in select.projection.iter_mut().enumerate() {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        if plain_column(expr).is_some() || is_engine_name(expr) {
            continue;
        }
        let name = shown(expr);
        let alias =
            if taken.insert(name.clone()) { name } else { unique_names::again(position, &name) };
        let expr = expr.clone();
        *item = SelectItem::ExprWithAlias { expr, alias: Ident::with_quote('"', alias) };
    }
}

fn plain_column(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(fold(ident)),
        Expr::CompoundIdentifier(parts) => parts.last().map(fold),
        _ => None,
    }
}

/// The name of a column without an alias.
pub fn shown(expr: &Expr) -> String {
    name(expr).unwrap_or_else(|| UNNAMED.to_owned())
}

/// Expressions that must not get an alias.
fn is_engine_name(expr: &Expr) -> bool {
    matches!(expr, Expr::Wildcard(_) | Expr::QualifiedWildcard(..))
}

/// The name that an expression suggests.
fn name(expr: &Expr) -> Option<String> {
    Some(match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => return plain_column(expr),
        Expr::Nested(inner) | Expr::Collate { expr: inner, .. } => return name(inner),
        Expr::Function(function) => {
            return Some(last(&function.name)).filter(|name| name != CHAIN);
        }
        Expr::Cast { expr, data_type, .. } => {
            let own = || Some(name_of_type(&type_name(data_type)));
            // In a chain of casts, the last one provides the type name.
            return match &**expr {
                Expr::Cast { .. } => cast_name(expr).or_else(own),
                other => name(other).or_else(own),
            };
        }
        Expr::Case { else_result, .. } => {
            let of_else = else_result.as_ref().and_then(|expr| name(expr));
            of_else.unwrap_or_else(|| "case".to_owned())
        }
        Expr::TypedString(typed) => name_of_type(&type_name(&typed.data_type)),
        Expr::Array(_) => "array".to_owned(),
        Expr::Exists { .. } => "exists".to_owned(),
        Expr::Subquery(query) => return name_of_query(query),
        Expr::CompoundFieldAccess { root, access_chain } => match access_chain.last() {
            Some(AccessExpr::Dot(field)) => return name(field),
            _ => return name(root),
        },
        Expr::Extract { .. } => "extract".to_owned(),
        Expr::Substring { shorthand: true, .. } => "substr".to_owned(),
        Expr::Substring { .. } => "substring".to_owned(),
        Expr::Overlay { .. } => "overlay".to_owned(),
        Expr::AtTimeZone { .. } => "timezone".to_owned(),
        Expr::Interval(_) => "interval".to_owned(),
        Expr::Position { .. } => "position".to_owned(),
        Expr::Trim { .. } => "btrim".to_owned(),
        Expr::Floor { .. } => "floor".to_owned(),
        Expr::Ceil { .. } => "ceil".to_owned(),
        _ => return None,
    })
}

/// The name of the expression below all casts.
fn cast_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Cast { expr, .. } => cast_name(expr),
        other => name(other),
    }
}

/// The name of a type in the type catalog, which names a cast without a better name.
fn name_of_type(written: &str) -> String {
    use catalog_views::pg_catalog::type_catalog;
    let entry = type_catalog::by_name(written).and_then(type_catalog::by_oid);
    entry.map_or_else(|| written.to_owned(), |entry| entry.name.to_owned())
}

fn name_of_query(query: &Query) -> Option<String> {
    let SetExpr::Select(select) = &*query.body else { return None };
    match select.projection.first()? {
        SelectItem::ExprWithAlias { alias, .. } => Some(fold(alias)),
        SelectItem::UnnamedExpr(expr) => name(expr),
        _ => None,
    }
}
