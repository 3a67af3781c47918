//! `SELECT (json_each(j)).*`, `(t).*`, `(ROW(1, 2)).*`: all fields of a composite value as columns.
//!
//! DataFusion has no asterisk for values. A table name in parentheses denotes the columns of the
//! table.

use super::build::{arguments, called};
use super::set_functions;
use datafusion::sql::sqlparser::ast::{
    AccessExpr, Expr, Ident, ObjectName, Select, SelectItem, SelectItemQualifiedWildcardKind,
    Statement, VisitorMut, WildcardAdditionalOptions,
};
use parser::ALL_FIELDS;
use parser::walk::visit_mut;
use std::ops::ControlFlow;

pub(super) fn rewrite(statement: &mut Statement) {
    struct Selects;
    impl VisitorMut for Selects {
        type Break = ();
        fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            if select.projection.iter().any(|item| value_below(item).is_some()) {
                let items = std::mem::take(&mut select.projection);
                select.projection = items.into_iter().flat_map(fields).collect();
            }
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Selects);
}

/// The value whose fields an item selects.
fn value_below(item: &SelectItem) -> Option<&Expr> {
    let SelectItem::UnnamedExpr(Expr::CompoundFieldAccess { root, access_chain }) = item else {
        return None;
    };
    let [AccessExpr::Dot(Expr::Identifier(field))] = &access_chain[..] else { return None };
    match &**root {
        Expr::Nested(value) if field.value == ALL_FIELDS => Some(value),
        _ => None,
    }
}

/// The items that replace an item.
fn fields(item: SelectItem) -> Vec<SelectItem> {
    let Some(value) = value_below(&item) else { return vec![item] };
    let named = |(name, expr): (String, Expr)| {
        let alias = Ident::with_quote('"', name);
        SelectItem::ExprWithAlias { expr, alias }
    };
    let of_row = |values: Vec<Expr>| {
        let names = (1..).map(|number| format!("f{number}"));
        names.zip(values).map(named).collect()
    };
    let of_table = |parts: Vec<Ident>| {
        let kind = SelectItemQualifiedWildcardKind::ObjectName(ObjectName::from(parts));
        vec![SelectItem::QualifiedWildcard(kind, WildcardAdditionalOptions::default())]
    };
    match value {
        Expr::Identifier(name) => of_table(vec![name.clone()]),
        Expr::CompoundIdentifier(parts) => of_table(parts.clone()),
        Expr::Tuple(values) => of_row(values.clone()),
        call if called(call).as_deref() == Some("row") => {
            of_row(arguments(call).into_iter().cloned().collect())
        }
        call => match set_functions::fields(call) {
            fields if fields.is_empty() => vec![item],
            fields => fields.into_iter().map(named).collect(),
        },
    }
}
