//! `pg_index` and `pg_constraint`: primary keys and check constraints.

use super::{oids, type_catalog};
use crate::catalog_tables::{declared, key_columns, key_numbers};
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use store::catalog::{Check, Table};

/// The rows of `pg_opclass`.
pub(super) const OPCLASS_FILE: &str = include_str!("data/pg_opclass.tsv");

/// `pg_index`: one row for each declared primary key.
pub(super) fn indexes(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.keyed() {
        let id = table.id.relation();
        let numbers = key_numbers(table);
        let count = numbers.len() as i64;
        let types: Vec<i64> =
            key_columns(table).iter().map(|c| type_catalog::of_sql(&c.sql_type).0).collect();
        let collation = |oid: &i64| type_catalog::by_oid(*oid).map_or(0, |entry| entry.collation);
        let yes = || true.into();
        rows.row([
            ("indexrelid", oids::key_index(id).into()),
            ("indrelid", oids::relation(id).into()),
            ("indnatts", count.into()),
            ("indnkeyatts", count.into()),
            ("indisunique", yes()),
            ("indisprimary", yes()),
            ("indimmediate", yes()),
            ("indisvalid", yes()),
            ("indisready", yes()),
            ("indislive", yes()),
            ("indkey", numbers.into()),
            ("indcollation", types.iter().map(collation).collect::<Vec<i64>>().into()),
            ("indclass", types.iter().map(|oid| operator_class(*oid)).collect::<Vec<_>>().into()),
            ("indoption", vec![0_i64; types.len()].into()),
        ]);
    }
}

/// The id in `pg_opclass` of the default B-tree operator class of a type; 0 if it has none.
fn operator_class(type_oid: i64) -> i64 {
    // varchar and json are ordered like text.
    let input_type = match type_oid {
        type_catalog::VARCHAR | type_catalog::JSON => type_catalog::TEXT,
        other => other,
    };
    let input_type = input_type.to_string();
    let default = OPCLASS_FILE.lines().find_map(|line| {
        let values: Vec<&str> = line.split('\t').collect();
        match values[..] {
            [oid, _, _, _, input, "t", ..] if input == input_type => oid.parse().ok(),
            _ => None,
        }
    });
    default.unwrap_or_default()
}

/// `pg_constraint`.
pub(super) fn constraints(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.tables() {
        let id = table.id.relation();
        if !table.has_hidden_key() {
            rows.row([
                ("oid", oids::key_constraint(id).into()),
                ("conname", table.key_name().into()),
                ("connamespace", oids::schema(&table.schema).into()),
                ("contype", "p".into()),
                ("convalidated", true.into()),
                ("conrelid", oids::relation(id).into()),
                ("conindid", oids::key_index(id).into()),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                ("conislocal", true.into()),
                ("connoinherit", true.into()),
                ("conkey", key_numbers(table).into()),
            ]);
        }
        for check in &table.checks {
            rows.row([
                ("oid", oids::check(id, &check.name).into()),
                ("conname", check.name.as_str().into()),
                ("connamespace", oids::schema(&table.schema).into()),
                ("contype", "c".into()),
                ("convalidated", true.into()),
                ("conrelid", oids::relation(id).into()),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                ("conislocal", true.into()),
                ("conkey", check_columns(table, check).into()),
                ("conbin", check.expression.as_str().into()),
            ]);
        }
    }
}

/// The attribute numbers of the columns in a check constraint.
pub(crate) fn check_columns(table: &Table, check: &Check) -> Vec<i64> {
    let references = grammar::columns(&check.expression).unwrap_or_default();
    let is_named =
        |name: &String| references.iter().any(|reference| reference.parts.last() == Some(name));
    declared(table).filter(|(_, column)| is_named(&column.name)).map(|(number, _)| number).collect()
}
