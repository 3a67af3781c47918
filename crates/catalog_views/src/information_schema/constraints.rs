//! The views about constraints.

use super::yes;
use crate::catalog_tables::{declared, key_columns as columns_of_key, key_numbers};
use crate::names::DATABASE;
use crate::pg_catalog::check_columns;
use crate::rows::TableRows;
use crate::view_context::ViewContext;

/// The view `table_constraints`.
pub(super) fn tables(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.tables() {
        let key = (!table.has_hidden_key()).then(|| (table.key_name(), "PRIMARY KEY"));
        let checks = table.checks.iter().map(|check| (check.name.clone(), "CHECK"));
        for (name, kind) in key.into_iter().chain(checks) {
            rows.row([
                ("constraint_catalog", DATABASE.into()),
                ("constraint_schema", table.schema.as_str().into()),
                ("constraint_name", name.into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", table.schema.as_str().into()),
                ("table_name", table.name.as_str().into()),
                ("constraint_type", kind.into()),
                ("is_deferrable", yes(false)),
                ("initially_deferred", yes(false)),
                ("enforced", yes(true)),
            ]);
        }
    }
}

/// The view `key_column_usage`.
pub(super) fn key_columns(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.keyed() {
        for (position, column) in (1_i64..).zip(columns_of_key(table)) {
            rows.row([
                ("constraint_catalog", DATABASE.into()),
                ("constraint_schema", table.schema.as_str().into()),
                ("constraint_name", table.key_name().into()),
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
    for table in context.tables() {
        let mut used = Vec::new();
        if !table.has_hidden_key() {
            used.push((table.key_name(), key_numbers(table)));
        }
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
    for table in context.keyed() {
        rows.row([
            ("table_catalog", DATABASE.into()),
            ("table_schema", table.schema.as_str().into()),
            ("table_name", table.name.as_str().into()),
            ("constraint_catalog", DATABASE.into()),
            ("constraint_schema", table.schema.as_str().into()),
            ("constraint_name", table.key_name().into()),
        ]);
    }
}

/// The view `check_constraints`.
pub(super) fn checks(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.tables() {
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
