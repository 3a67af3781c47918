//! What COMMENT ON said: obj_description, col_description, shobj_description.

use super::Sight;
use crate::catalog_views::pg_catalog::oids;
use crate::catalog_views::pg_catalog::world::{Class, declared};
use crate::catalog_views::session_context::SessionContext;
use crate::functions::row_function::{Row, function};
use crate::values::cells::Form;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::{Catalog, Relation};

/// The functions.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let (objects, columns) = (Arc::clone(session), Arc::clone(session));
    vec![
        function("obj_description", 1..=2, Form::Text, move |row| {
            Ok(of_object(&Sight::of(&*objects), row).into())
        }),
        function("col_description", 2..=2, Form::Text, move |row| {
            Ok(of_column(&Sight::of(&*columns), row).into())
        }),
        function("shobj_description", 2..=2, Form::Text, |_| Ok(None::<String>.into())),
    ]
}

fn of_object(sight: &Sight, row: &Row<'_>) -> Option<String> {
    let oid = row.number(0)?;
    let catalog = row.text(1).map(|name| name.trim_start_matches("pg_catalog."));
    match catalog {
        Some("pg_class") => of_relation(sight, oid),
        Some("pg_namespace") => of_schema(&sight.catalog, oid),
        Some(_) => None,
        None => of_relation(sight, oid).or_else(|| of_schema(&sight.catalog, oid)),
    }
}

fn of_relation(sight: &Sight, oid: i64) -> Option<String> {
    match Class::by_oid(&sight.catalog, oid)? {
        Class::Relation(Relation::Table(table)) => table.comment.clone(),
        Class::Relation(Relation::View(view)) => view.comment.clone(),
        Class::Relation(Relation::Sequence(sequence)) => sequence.comment.clone(),
        Class::KeyIndex(_) | Class::System(_) => None,
    }
}

fn of_schema(catalog: &Catalog, oid: i64) -> Option<String> {
    catalog.schemas().find(|schema| oids::schema(&schema.name) == oid)?.comment.clone()
}

fn of_column(sight: &Sight, row: &Row<'_>) -> Option<String> {
    let (oid, wanted) = (row.number(0)?, row.number(1)?);
    let Class::Relation(Relation::Table(table)) = Class::by_oid(&sight.catalog, oid)? else {
        return None;
    };
    declared(table).find(|(number, _)| *number == wanted)?.1.comment.clone()
}
