//! The views about constraints.

use super::yes;
use crate::catalog_tables::{declared, key_numbers, unique_numbers};
use crate::names::DATABASE;
use crate::pg_catalog::check_columns;
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use deparse::index_parts::{index_parts, key_columns as columns_of_key};
use store::catalog::Timing;

/// The view `table_constraints`.
pub(super) fn tables(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.base_tables() {
        let key = (!table.has_hidden_key()).then(|| (table.key_name(), "PRIMARY KEY"));
        let checks = table.checks.iter().map(|check| (check.name.clone(), "CHECK"));
        let unique = context.unique(table.id).map(|index| {
            let kind = if index.is_primary { "PRIMARY KEY" } else { "UNIQUE" };
            (index.file.name.clone(), kind)
        });
        for (name, kind) in key.into_iter().chain(unique).chain(checks) {
            let mut indexes = context.unique(table.id).filter(|_| kind != "CHECK");
            let index = indexes.find(|index| index.file.name == name);
            let timing = index.map_or(Timing::NotDeferrable, |index| index.timing);
            rows.row([
                ("constraint_catalog", DATABASE.into()),
                ("constraint_schema", table.schema.as_str().into()),
                ("constraint_name", name.into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", table.schema.as_str().into()),
                ("table_name", table.name.as_str().into()),
                ("constraint_type", kind.into()),
                ("is_deferrable", yes(timing != Timing::NotDeferrable)),
                ("initially_deferred", yes(timing == Timing::InitiallyDeferred)),
                ("enforced", yes(true)),
            ]);
            if let Some(index) = index.filter(|_| kind == "UNIQUE") {
                rows.set_last("nulls_distinct", yes(!index.nulls_equal));
            }
        }
    }
}

/// The view `key_column_usage`.
pub(super) fn key_columns(context: &ViewContext<'_>, rows: &mut TableRows) {
    let keys = context.keyed().map(|table| (table, table.key_name(), columns_of_key(table)));
    let unique = context.base_tables().flat_map(|table| {
        let of_table = context.unique(table.id);
        of_table.map(move |index| {
            let parts = index_parts(index, table).into_iter();
            (table, index.file.name.clone(), parts.filter_map(|part| part.column).collect())
        })
    });
    for (table, name, columns) in keys.chain(unique) {
        for (position, column) in (1_i64..).zip(columns) {
            rows.row([
                ("constraint_catalog", DATABASE.into()),
                ("constraint_schema", table.schema.as_str().into()),
                ("constraint_name", name.as_str().into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", table.schema.as_str().into()),
                ("table_name", table.name.as_str().into()),
                ("column_name", column.name.as_str().into()),
                ("ordinal_position", position.into()),
            ]);
        }
    }
}

/// The view `constraint_column_usage`.
pub(super) fn column_usage(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.base_tables() {
        let mut used = Vec::new();
        if !table.has_hidden_key() {
            used.push((table.key_name(), key_numbers(table)));
        }
        let unique = context.unique(table.id);
        used.extend(unique.map(|i| (i.file.name.clone(), unique_numbers(i, table))));
        let checks = table.checks.iter();
        used.extend(checks.map(|check| (check.name.clone(), check_columns(table, check))));
        for (name, numbers) in used {
            for (_, column) in declared(table).filter(|(number, _)| numbers.contains(number)) {
                rows.row([
                    ("table_catalog", DATABASE.into()),
                    ("table_schema", table.schema.as_str().into()),
                    ("table_name", table.name.as_str().into()),
                    ("column_name", column.name.as_str().into()),
                    ("constraint_catalog", DATABASE.into()),
                    ("constraint_schema", table.schema.as_str().into()),
                    ("constraint_name", name.as_str().into()),
                ]);
            }
        }
    }
}

/// The view `constraint_table_usage`.
pub(super) fn table_usage(context: &ViewContext<'_>, rows: &mut TableRows) {
    let keys = context.keyed().map(|table| (table, table.key_name()));
    let unique = context.base_tables().flat_map(|table| {
        context.unique(table.id).map(move |index| (table, index.file.name.clone()))
    });
    for (table, name) in keys.chain(unique) {
        rows.row([
            ("table_catalog", DATABASE.into()),
            ("table_schema", table.schema.as_str().into()),
            ("table_name", table.name.as_str().into()),
            ("constraint_catalog", DATABASE.into()),
            ("constraint_schema", table.schema.as_str().into()),
            ("constraint_name", name.into()),
        ]);
    }
}

/// The view `check_constraints`.
pub(super) fn checks(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.base_tables() {
        for check in &table.checks {
            rows.row([
                ("constraint_catalog", DATABASE.into()),
                ("constraint_schema", table.schema.as_str().into()),
                ("constraint_name", check.name.as_str().into()),
                ("check_clause", format!("(({}))", check.expression).into()),
            ]);
        }
    }
}
