//! pg_index and pg_constraint: primary keys with their indexes, and checks.

use super::super::rows::TableRows;
use super::world::{World, declared, key_columns, key_numbers};
use super::{oids, type_catalog};
use datafusion::sql::sqlparser::ast::Expr;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use store::catalog::{Check, Table};
use syntax::visit_expressions;

/// The file of `pg_opclass`.
pub(super) const OPCLASS_FILE: &str = include_str!("data/pg_opclass.tsv");

/// pg_index.
pub(super) fn indexes(world: &World<'_>, rows: &mut TableRows) {
    for table in world.keyed() {
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

/// The default order of a type, as `pg_opclass` numbers it.
fn operator_class(of: i64) -> i64 {
    // varchar and json text are ordered as text is, as in PostgreSQL.
    let of = match of {
        1043 | 114 => type_catalog::TEXT,
        other => other,
    };
    let of = of.to_string();
    let default = OPCLASS_FILE.lines().find_map(|line| {
        let values: Vec<&str> = line.split('\t').collect();
        match values[..] {
            [oid, _, _, _, input, "t", ..] if input == of => oid.parse().ok(),
            _ => None,
        }
    });
    default.unwrap_or_default()
}

/// pg_constraint.
pub(super) fn constraints(world: &World<'_>, rows: &mut TableRows) {
    for table in world.tables() {
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

/// The numbers of the columns that a check names.
pub(crate) fn check_columns(table: &Table, check: &Check) -> Vec<i64> {
    let Ok(expression) = crate::parser::parse_expression(&check.expression) else {
        return Vec::new();
    };
    let mut names = BTreeSet::new();
    let _ = visit_expressions(&expression, |expression| {
        let last = match expression {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last(),
            _ => None,
        };
        names.extend(last.map(crate::parser::names::fold));
        ControlFlow::<()>::Continue(())
    });
    declared(table)
        .filter(|(_, column)| names.contains(&column.name))
        .map(|(number, _)| number)
        .collect()
}

/// The definition of a primary key, as SQL.
pub(crate) fn key_definition(table: &Table) -> String {
    format!("PRIMARY KEY ({})", key_list(table))
}

/// The definition of a check, as SQL; made pretty, without a second pair of parentheses.
pub(crate) fn check_definition(check: &Check, pretty: bool) -> String {
    match pretty {
        true => format!("CHECK ({})", check.expression),
        false => format!("CHECK (({}))", check.expression),
    }
}

/// The columns of a primary key, as SQL.
pub(crate) fn key_list(table: &Table) -> String {
    let names = key_columns(table).into_iter().map(|column| super::quote_ident(&column.name));
    names.collect::<Vec<_>>().join(", ")
}
