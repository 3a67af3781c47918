//! Foreign keys in the views about constraints.

use super::yes;
use crate::names::DATABASE;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use deparse::definitions::action_words;
use deparse::index_parts::key_columns as columns_of_key;
use std::sync::Arc;
use store::catalog::{Column, ColumnId, ForeignKey, Table, Timing};
use values::cells::Cell;

/// The foreign keys, each with its table and the table that it refers to.
fn all<'a>(
    context: &'a ViewContext<'_>,
) -> impl Iterator<Item = (&'a Arc<Table>, &'a ForeignKey, &'a Arc<Table>)> {
    let keys =
        context.tables().flat_map(|table| table.foreign_keys.iter().map(move |key| (table, key)));
    keys.filter_map(|(table, key)| {
        context.catalog.table_by_id(key.references).map(|referenced| (table, key, referenced))
    })
}

fn columns<'a>(table: &'a Table, ids: &[ColumnId]) -> Vec<&'a Column> {
    ids.iter().filter_map(|id| table.position(*id)).map(|at| &table.columns[at]).collect()
}

/// The name of a foreign key, with its schema.
fn named(table: &Table, key: &ForeignKey) -> [(&'static str, Cell); 3] {
    [
        ("constraint_catalog", DATABASE.into()),
        ("constraint_schema", table.schema.as_str().into()),
        ("constraint_name", key.name.as_str().into()),
    ]
}

/// The name of a table, with its schema.
fn of_table(table: &Table) -> [(&'static str, Cell); 3] {
    [
        ("table_catalog", DATABASE.into()),
        ("table_schema", table.schema.as_str().into()),
        ("table_name", table.name.as_str().into()),
    ]
}

/// The rows of `table_constraints`.
pub(super) fn tables(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (table, key, _) in all(context) {
        let cells = named(table, key).into_iter().chain(of_table(table)).chain([
            ("constraint_type", "FOREIGN KEY".into()),
            ("is_deferrable", yes(key.timing != Timing::NotDeferrable)),
            ("initially_deferred", yes(key.timing == Timing::InitiallyDeferred)),
            ("enforced", yes(true)),
        ]);
        rows.row_of(cells);
    }
}

/// The rows of `key_column_usage`.
pub(super) fn key_columns(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (table, key, referenced) in all(context) {
        let index = key.index.and_then(|id| context.catalog.index_by_id(id));
        let unique: Vec<ColumnId> = match index {
            Some(index) => index.columns.iter().filter_map(|column| column.key.column()).collect(),
            None => columns_of_key(referenced).iter().map(|column| column.id).collect(),
        };
        let places = key.referenced.iter().map(|id| unique.iter().position(|of| of == id));
        let all = columns(table, &key.columns).into_iter().zip(places);
        for (position, (column, place)) in (1_i64..).zip(all) {
            let place = place.map_or(Cell::Null, |place| (place as i64 + 1).into());
            let cells = named(table, key).into_iter().chain(of_table(table)).chain([
                ("column_name", column.name.as_str().into()),
                ("ordinal_position", position.into()),
                ("position_in_unique_constraint", place),
            ]);
            rows.row_of(cells);
        }
    }
}

/// The rows of `constraint_column_usage`: the columns that are referred to.
pub(super) fn column_usage(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (table, key, referenced) in all(context) {
        for column in columns(referenced, &key.referenced) {
            let name = ("column_name", column.name.as_str().into());
            rows.row_of(of_table(referenced).into_iter().chain([name]).chain(named(table, key)));
        }
    }
}

/// The rows of `constraint_table_usage`: the tables that are referred to.
pub(super) fn table_usage(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (table, key, referenced) in all(context) {
        rows.row_of(of_table(referenced).into_iter().chain(named(table, key)));
    }
}

/// The view `referential_constraints`.
pub(super) fn references(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (table, key, referenced) in all(context) {
        let index = key.index.and_then(|id| context.catalog.index_by_id(id));
        let unique = match index {
            Some(index) if index.is_constraint => Some(index.file.name.clone()),
            Some(_) => None,
            None => Some(referenced.key_name()),
        };
        let schema = unique.as_ref().map(|_| referenced.schema.as_str());
        let cell = |text: Option<&str>| text.map_or(Cell::Null, Cell::from);
        let cells = named(table, key).into_iter().chain([
            ("unique_constraint_catalog", cell(schema.map(|_| DATABASE))),
            ("unique_constraint_schema", cell(schema)),
            ("unique_constraint_name", cell(unique.as_deref())),
            ("match_option", if key.is_full { "FULL" } else { "NONE" }.into()),
            ("update_rule", action_words(key.on_update).into()),
            ("delete_rule", action_words(key.on_delete).into()),
        ]);
        rows.row_of(cells);
    }
}
