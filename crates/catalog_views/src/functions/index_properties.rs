//! `pg_index_has_property` and `pg_index_column_has_property`: what an index, or one of its columns, is able to do.

use super::Scope;
use crate::pg_catalog::class::Class;
use crate::session_context::SessionContext;
use datafusion::logical_expr::ScalarUDF;
use deparse::index_parts::{index_parts, key_columns};
use functions::row_function::{Row, function};
use std::sync::Arc;
use store::catalog::Relation;
use values::cells::{Cell, Form};

/// The functions. They return NULL for what is no index, no column of it, or no property.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let (of_index, of_column) = (Arc::clone(session), Arc::clone(session));
    vec![
        function("pg_index_has_property", 2..=2, Form::Flag, move |row| {
            let scope = Scope::of(&*of_index);
            let property = row.text(1).filter(|_| columns(&scope, row).is_some());
            let known = ["clusterable", "index_scan", "bitmap_scan", "backward_scan"];
            let is = |property: &str| known.iter().any(|name| property.eq_ignore_ascii_case(name));
            Ok(property.filter(|property| is(property)).map(|_| true).into())
        }),
        function("pg_index_column_has_property", 3..=3, Form::Flag, move |row| {
            let scope = Scope::of(&*of_column);
            Ok(column_property(&scope, row).map_or(Cell::Null, Cell::from))
        }),
    ]
}

/// Whether a column of an index has larger values first and NULL first; `None` for a column of INCLUDE.
type Order = Option<(bool, bool)>;

/// The order of each column of an index.
fn columns(scope: &Scope, row: &Row<'_>) -> Option<Vec<Order>> {
    match scope.class(row, 0)? {
        Class::KeyIndex(table) => {
            Some(key_columns(table).iter().map(|_| Some((false, false))).collect())
        }
        Class::Relation(Relation::Index(index)) => {
            let parts = index_parts(index, scope.catalog.table_by_id(index.table)?);
            let order = |order: &store::catalog::IndexColumn| (order.descending, order.nulls_first);
            Some(parts.iter().map(|part| part.order.map(order)).collect())
        }
        Class::Relation(_) | Class::System(_) | Class::Composite(_) => None,
    }
}

fn column_property(scope: &Scope, row: &Row<'_>) -> Option<bool> {
    let at = usize::try_from(row.number(1)?).ok()?.checked_sub(1)?;
    let order = *columns(scope, row)?.get(at)?;
    match (row.text(2)?.to_ascii_lowercase().as_str(), order) {
        ("returnable", _) => Some(true),
        ("distance_orderable", _) => Some(false),
        ("orderable", order) => Some(order.is_some()),
        (_, None) => None,
        ("search_array" | "search_nulls", Some(_)) => Some(true),
        ("asc", Some((descending, _))) => Some(!descending),
        ("desc", Some((descending, _))) => Some(descending),
        ("nulls_first", Some((_, nulls_first))) => Some(nulls_first),
        ("nulls_last", Some((_, nulls_first))) => Some(!nulls_first),
        _ => None,
    }
}
