//! `pg_relation_is_updatable` and `pg_column_is_updatable`.

use super::Scope;
use crate::pg_catalog::class::Class;
use crate::session_context::SessionContext;
use crate::updatable_views::{self, Updatable};
use datafusion::logical_expr::ScalarUDF;
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::Relation;
use values::cells::{Cell, Form};

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let (of_relation, of_column) = (Arc::clone(session), Arc::clone(session));
    vec![
        function("pg_relation_is_updatable", 2..=2, Form::Integer, move |row| {
            let scope = Scope::of(&*of_relation);
            let updatable = relation(&scope, row).map(|relation| {
                updatable_views::of_relation(&scope.catalog, scope.path(), relation)
            });
            Ok(i64::from(updatable.map_or(0, Updatable::bits)).into())
        }),
        function("pg_column_is_updatable", 3..=3, Form::Flag, move |row| {
            let scope = Scope::of(&*of_column);
            let updatable = column_updatable(&scope, row);
            Ok(Cell::from(updatable.is_some_and(|can| can.update && can.delete)))
        }),
    ]
}

fn relation<'a>(scope: &'a Scope, row: &Row<'_>) -> Option<&'a Relation> {
    match Class::by_oid(&scope.catalog, row.number(0)?)? {
        Class::Relation(relation) => Some(relation),
        Class::KeyIndex(_) | Class::System(_) | Class::Composite(_) => None,
    }
}

fn column_updatable(scope: &Scope, row: &Row<'_>) -> Option<Updatable> {
    let (relation, name) = (relation(scope, row)?, column(scope, row)?);
    let found = updatable_views::of_columns(&scope.catalog, scope.path(), relation, &[Some(name)]);
    found.first().copied()
}

/// The name of the column of a number.
fn column(scope: &Scope, row: &Row<'_>) -> Option<String> {
    let at = usize::try_from(row.number(1)?).ok()?.checked_sub(1)?;
    match relation(scope, row)? {
        Relation::Table(table) => {
            let mut shown = table.columns.iter().filter(|column| !column.hidden);
            shown.nth(at).map(|column| column.name.clone())
        }
        Relation::View(view) => updatable_views::column_name(view, at),
        _ => None,
    }
}
