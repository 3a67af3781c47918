//! `pg_index` and `pg_constraint`: indexes, primary keys, UNIQUE and check constraints.

use super::{oids, triggers, type_catalog};
use crate::catalog_tables::{declared, index_numbers, key_numbers, unique_numbers};
use crate::rows::TableRows;
use crate::view_context::ViewContext;
use deparse::definitions;
use deparse::index_parts::{index_parts, key_columns};
use store::catalog::{
    Check, ColumnId, ForeignKey, IndexColumn, ReferentialAction, SqlType, SystemType, Table,
    Timing, UserType,
};

/// The rows of `pg_opclass`.
pub(super) const OPCLASS_FILE: &str = include_str!("data/pg_opclass.tsv");

/// `pg_index`: one row for each declared primary key, and for each index.
pub(super) fn indexes(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.keyed() {
        let oid = oids::key_index(table.id.relation());
        let types = key_columns(table).into_iter().map(|column| &column.sql_type);
        index(table, oid, (key_numbers(table), types.collect()), rows);
        rows.set_last("indisunique", true.into());
        rows.set_last("indisprimary", true.into());
    }
    for (of, table) in context.indexes() {
        let oid = oids::relation(of.file.id.relation());
        let parts = index_parts(of, table);
        let types = parts.iter().filter(|part| part.order.is_some()).map(|part| part.sql_type);
        let types: Vec<&SqlType> = types.collect();
        let class = |(column, of): (&IndexColumn, &&SqlType)| {
            class_named(column.operator_class.as_deref()).unwrap_or_else(|| operator_class(of))
        };
        let classes: Vec<i64> = of.columns.iter().zip(&types).map(class).collect();
        index(table, oid, (index_numbers(of, table), types), rows);
        rows.set_last("indclass", classes.into());
        let options = of.columns.iter();
        let option = |c: &IndexColumn| i64::from(c.descending) + 2 * i64::from(c.nulls_first);
        rows.set_last("indoption", options.map(option).collect::<Vec<i64>>().into());
        rows.set_last("indisunique", of.is_unique.into());
        rows.set_last("indisprimary", of.is_primary.into());
        rows.set_last("indimmediate", (!of.is_deferrable()).into());
        rows.set_last("indnullsnotdistinct", of.nulls_equal.into());
        let shown: Vec<&str> = of
            .columns
            .iter()
            .filter_map(|column| Some(column.key.expression()?.shown.as_str()))
            .collect();
        if !shown.is_empty() {
            rows.set_last("indexprs", shown.join(", ").into());
        }
        if let Some(predicate) = &of.predicate {
            rows.set_last("indpred", predicate.shown.as_str().into());
        }
    }
}

/// Adds an index that is neither unique nor of the primary key, by the numbers of its columns and the types of
/// its keys.
fn index(
    table: &Table,
    oid: i64,
    (numbers, types): (Vec<i64>, Vec<&SqlType>),
    rows: &mut TableRows,
) {
    let count = numbers.len() as i64;
    let oid_of = |of: &SqlType| type_catalog::of_sql(of).0;
    let collation =
        |of: &&SqlType| type_catalog::by_oid(oid_of(of)).map_or(0, |entry| entry.collation);
    rows.row([
        ("indexrelid", oid.into()),
        ("indrelid", oids::relation(table.id.relation()).into()),
        ("indnatts", count.into()),
        ("indnkeyatts", (types.len() as i64).into()),
        ("indimmediate", true.into()),
        ("indisvalid", true.into()),
        ("indisready", true.into()),
        ("indislive", true.into()),
        ("indkey", numbers.into()),
        ("indcollation", types.iter().map(collation).collect::<Vec<i64>>().into()),
        ("indclass", types.iter().map(|of| operator_class(of)).collect::<Vec<_>>().into()),
        ("indoption", vec![0_i64; types.len()].into()),
    ]);
}

/// The id in `pg_opclass` of an operator class.
fn class_named(wanted: Option<&str>) -> Option<i64> {
    let wanted = wanted?;
    let mut classes = OPCLASS_FILE.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    classes.find_map(|values| match values[..] {
        [oid, _, name, ..] if name == wanted => oid.parse().ok(),
        _ => None,
    })
}

/// The id in `pg_opclass` of the default B-tree operator class of a type; 0 if it has none.
fn operator_class(sql_type: &SqlType) -> i64 {
    let input_type = match sql_type {
        SqlType::User(user) => match user.domain() {
            Some(domain) => return operator_class(&domain.base),
            None => type_catalog::ANYENUM,
        },
        SqlType::Array(_) => type_catalog::ANYARRAY,
        // Names of objects are ordered like their ids.
        SqlType::System(of) if of.is_named_id() => SystemType::Oid.oid().into(),
        // varchar and json are ordered like text.
        other => match type_catalog::of_sql(other).0 {
            type_catalog::VARCHAR | type_catalog::JSON => type_catalog::TEXT,
            oid => oid,
        },
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
        for index in context.catalog.indexes_of(table.id).iter().filter(|i| i.is_constraint) {
            let name = index.file.name.as_str();
            rows.row([
                ("oid", oids::check(id, name).into()),
                ("conname", name.into()),
                ("connamespace", oids::schema(&table.schema).into()),
                ("contype", if index.is_primary { "p" } else { "u" }.into()),
                ("condeferrable", index.is_deferrable().into()),
                ("condeferred", (index.timing == Timing::InitiallyDeferred).into()),
                ("convalidated", true.into()),
                ("conrelid", oids::relation(id).into()),
                ("conindid", oids::relation(index.file.id.relation()).into()),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                ("conislocal", true.into()),
                ("connoinherit", true.into()),
                ("conkey", unique_numbers(index, table).into()),
            ]);
        }
        for check in &table.checks {
            rows.row([
                ("oid", oids::check(id, &check.name).into()),
                ("conname", check.name.as_str().into()),
                ("connamespace", oids::schema(&table.schema).into()),
                ("contype", "c".into()),
                ("convalidated", check.is_valid.into()),
                ("conrelid", oids::relation(id).into()),
                ("confupdtype", " ".into()),
                ("confdeltype", " ".into()),
                ("confmatchtype", " ".into()),
                ("conislocal", true.into()),
                ("conkey", check_columns(table, check).into()),
                ("conbin", format!("({})", check.expression).into()),
            ]);
        }
        table.foreign_keys.iter().for_each(|key| foreign_key(context, table, key, rows));
        constraint_triggers(context, table, rows);
    }
    for user in context.catalog.user_types() {
        domain_checks(user, rows);
    }
}

fn domain_checks(user: &UserType, rows: &mut TableRows) {
    for check in user.domain().into_iter().flat_map(|domain| &domain.checks) {
        let condition = definitions::domain_check(check, true);
        rows.row([
            ("oid", domain_check(user, &check.name).into()),
            ("conname", check.name.as_str().into()),
            ("connamespace", oids::schema(&user.schema).into()),
            ("contype", "c".into()),
            ("convalidated", check.is_valid.into()),
            ("contypid", oids::user_type(user.id).into()),
            ("confupdtype", " ".into()),
            ("confdeltype", " ".into()),
            ("confmatchtype", " ".into()),
            ("conislocal", true.into()),
            ("conbin", condition.strip_prefix("CHECK ").unwrap_or(&condition).into()),
        ]);
    }
}

/// The id of a condition of a domain.
pub(crate) fn domain_check(user: &UserType, name: &str) -> i64 {
    oids::check(user.id.object(), name)
}

/// The id of a constraint of a table that has a name. Constraint triggers have others.
pub(crate) fn oid(table: &Table, name: &str) -> i64 {
    match table.is_key_name(name) {
        true => oids::key_constraint(table.id.relation()),
        false => oids::check(table.id.relation(), name),
    }
}

fn constraint_triggers(context: &ViewContext<'_>, table: &Table, rows: &mut TableRows) {
    for trigger in context.catalog.triggers_of(table.id) {
        let Some(timing) = trigger.constraint else { continue };
        rows.row([
            ("oid", triggers::constraint(trigger).into()),
            ("conname", trigger.name.as_str().into()),
            ("connamespace", oids::schema(&table.schema).into()),
            ("contype", "t".into()),
            ("condeferrable", triggers::is_deferrable(timing).into()),
            ("condeferred", triggers::is_deferred(timing).into()),
            ("convalidated", true.into()),
            ("conrelid", oids::relation(table.id.relation()).into()),
            ("confupdtype", " ".into()),
            ("confdeltype", " ".into()),
            ("confmatchtype", " ".into()),
            ("conislocal", true.into()),
            ("connoinherit", true.into()),
        ]);
    }
}

fn foreign_key(context: &ViewContext<'_>, table: &Table, key: &ForeignKey, rows: &mut TableRows) {
    let Some(referenced) = context.catalog.table_by_id(key.references) else { return };
    let (id, of) = (table.id.relation(), referenced.id.relation());
    let index = match key.index {
        Some(index) => oids::relation(index.relation()),
        None => oids::key_index(of),
    };
    rows.row([
        ("oid", oids::check(id, &key.name).into()),
        ("conname", key.name.as_str().into()),
        ("connamespace", oids::schema(&table.schema).into()),
        ("contype", "f".into()),
        ("condeferrable", (key.timing != Timing::NotDeferrable).into()),
        ("condeferred", (key.timing == Timing::InitiallyDeferred).into()),
        ("convalidated", key.is_valid.into()),
        ("conrelid", oids::relation(id).into()),
        ("conindid", index.into()),
        ("confrelid", oids::relation(of).into()),
        ("confupdtype", letter(key.on_update).into()),
        ("confdeltype", letter(key.on_delete).into()),
        ("confmatchtype", if key.is_full { "f" } else { "s" }.into()),
        ("conislocal", true.into()),
        ("connoinherit", true.into()),
        ("conkey", numbers(table, &key.columns).into()),
        ("confkey", numbers(referenced, &key.referenced).into()),
    ]);
    if !key.on_delete_set.is_empty() {
        rows.set_last("confdelsetcols", numbers(table, &key.on_delete_set).into());
    }
}

/// The letter of an action in `pg_constraint`.
fn letter(action: ReferentialAction) -> &'static str {
    match action {
        ReferentialAction::NoAction => "a",
        ReferentialAction::Restrict => "r",
        ReferentialAction::Cascade => "c",
        ReferentialAction::SetNull => "n",
        ReferentialAction::SetDefault => "d",
    }
}

/// The attribute numbers of columns.
pub(crate) fn numbers(table: &Table, columns: &[ColumnId]) -> Vec<i64> {
    let number = |id| declared(table).find(|(_, column)| column.id == id).map(|(number, _)| number);
    columns.iter().filter_map(|id| number(*id)).collect()
}

/// The attribute numbers of the columns in a check constraint.
pub(crate) fn check_columns(table: &Table, check: &Check) -> Vec<i64> {
    let references = grammar::columns(&check.expression).unwrap_or_default();
    let is_named =
        |name: &String| references.iter().any(|reference| reference.parts.last() == Some(name));
    declared(table).filter(|(_, column)| is_named(&column.name)).map(|(number, _)| number).collect()
}
