//! `pg_class`, `pg_attribute` and `pg_attrdef`: relations, their columns and the defaults of
//! columns.

use super::{default_texts, oids, roles, type_catalog, user_types};
use crate::catalog_tables::declared;
use crate::rows::TableRows;
use crate::shape::{self, Shape};
use crate::view_context::ViewContext;
use deparse::index_parts::{index_parts, key_columns};
use std::sync::Arc;
use store::catalog::{
    CheckOption, Column, Identity, Object, Privileges, Relation, SqlType, Table, TableId, TypeId,
    UserType, is_temporary_schema,
};
use values::cells::Cell;

/// `pg_class`.
pub(super) fn classes(context: &ViewContext<'_>, rows: &mut TableRows) {
    for relation in context.catalog.relations() {
        match relation {
            Relation::Table(table) => {
                table_class(context, table, rows);
                if !table.has_hidden_key() {
                    let oid = oids::key_index(table.id.relation());
                    index_class(context, table, (oid, &table.key_name(), table.key.len()), rows);
                }
            }
            Relation::Index(index) => {
                let Some(table) = context.catalog.table_by_id(index.table) else { continue };
                let oid = oids::relation(index.file.id.relation());
                let columns = index.columns.len() + index.included.len();
                let cells = (oid, index.file.name.as_str(), columns);
                index_class(context, table, cells, rows);
                if index.is_hash {
                    rows.set_last("relam", oids::HASH.into());
                }
            }
            Relation::View(view) => {
                let columns = context.views.get(&view.id).map_or(0, Vec::len);
                let cells =
                    KindCells { kind: "v", method: 0, columns, tuples: -1, has_index: false };
                class(context, relation, &cells, rows);
                let triggers = context.catalog.triggers_of(TableId(view.id.0));
                rows.set_last("relhastriggers", (!triggers.is_empty()).into());
            }
            Relation::Sequence(_) => {
                let cells =
                    KindCells { kind: "S", method: 0, columns: 3, tuples: 1, has_index: false };
                class(context, relation, &cells, rows);
            }
        }
    }
    for (user, attributes) in user_types::composites(context) {
        composite_class(context, user, attributes.len(), rows);
    }
    shape::all().for_each(|shape| system_class(shape, rows));
    rows.set_all("relispopulated", true.into());
    for table in context.tables() {
        if table.materialized.as_ref().is_some_and(|of| !of.is_populated) {
            let oid = oids::relation(table.id.relation());
            rows.set_where(("oid", &oid.into()), "relispopulated", &false.into());
        }
    }
}

fn composite_class(
    context: &ViewContext<'_>,
    user: &UserType,
    columns: usize,
    rows: &mut TableRows,
) {
    let owner = roles::owner(context.catalog, &Object::Relation(user.id.object()));
    rows.row([
        ("oid", oids::user_type(user.id).into()),
        ("relname", user.name.as_str().into()),
        ("relnamespace", oids::schema(&user.schema).into()),
        ("reltype", oids::user_type(user.id).into()),
        ("relpersistence", "p".into()),
        ("relowner", owner.into()),
        ("relkind", "c".into()),
        ("relnatts", (columns as i64).into()),
        ("reltuples", Cell::Double(0.0)),
        ("relreplident", "n".into()),
    ]);
}

/// The row types of tables and views, for `pg_type`.
pub(super) fn row_types(context: &ViewContext<'_>, rows: &mut TableRows) {
    for relation in context.catalog.relations() {
        let id = relation.id();
        if matches!(relation, Relation::Sequence(_) | Relation::Index(_)) {
            continue;
        }
        rows.row([
            ("oid", oids::row_type(id).into()),
            ("typname", relation.name().into()),
            ("typnamespace", oids::schema(relation.schema()).into()),
            ("typowner", roles::owner(context.catalog, &Object::Relation(id)).into()),
            ("typlen", Cell::Number(-1)),
            ("typtype", "c".into()),
            ("typcategory", "C".into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typrelid", oids::relation(id).into()),
            ("typarray", oids::user_type(TypeId::of_row_arrays(id)).into()),
            ("typinput", type_catalog::RECORD_IN.into()),
            ("typoutput", type_catalog::RECORD_OUT.into()),
            ("typreceive", type_catalog::RECORD_RECEIVE.into()),
            ("typsend", type_catalog::RECORD_SEND.into()),
            ("typalign", "d".into()),
            ("typstorage", "x".into()),
        ]);
        let named = (relation.schema(), relation.name());
        user_types::array_row(context, &UserType::of_rows(id, named, Vec::new()), rows);
    }
}

/// The cells of a row of `pg_class` that differ between views and sequences.
struct KindCells {
    kind: &'static str,
    method: i64,
    columns: usize,
    tuples: i64,
    has_index: bool,
}

fn class(context: &ViewContext<'_>, relation: &Relation, cells: &KindCells, rows: &mut TableRows) {
    let id = relation.id();
    let object = Object::Relation(id);
    let owner = match relation {
        Relation::Sequence(sequence) => sequence.owned_by.map(|(table, _)| table),
        Relation::Table(_) | Relation::View(_) | Relation::Index(_) => None,
    };
    let owner = owner.and_then(|id| context.catalog.table_by_id(id)).map(Arc::as_ref);
    let all = match relation {
        Relation::Sequence(_) => Privileges::OF_SEQUENCES,
        Relation::Table(_) | Relation::View(_) | Relation::Index(_) => Privileges::OF_TABLES,
    };
    rows.row([
        ("oid", oids::relation(id).into()),
        ("relname", relation.name().into()),
        ("relnamespace", oids::schema(relation.schema()).into()),
        ("reltype", if cells.kind == "S" { 0 } else { oids::row_type(id) }.into()),
        ("relpersistence", persistence(relation.schema(), owner).into()),
        ("relowner", roles::owner(context.catalog, &object).into()),
        ("relacl", roles::access_list(context.catalog, &object, all).into()),
        ("relam", cells.method.into()),
        ("relfilenode", if cells.kind == "v" { 0 } else { oids::relation(id) }.into()),
        ("relkind", cells.kind.into()),
        ("relnatts", (cells.columns as i64).into()),
        ("reltuples", Cell::Double(cells.tuples as f64)),
        ("relhasindex", cells.has_index.into()),
        ("relhasrules", (cells.kind == "v").into()),
        ("relreplident", if cells.kind == "r" { "d" } else { "n" }.into()),
        ("reloptions", view_options(relation).into()),
    ]);
}

/// The options of a view, as `pg_class` has them.
fn view_options(relation: &Relation) -> Option<Vec<String>> {
    let Relation::View(view) = relation else { return None };
    let check = view.options.check.map(|check| match check {
        CheckOption::Local => "check_option=local".to_owned(),
        CheckOption::Cascaded => "check_option=cascaded".to_owned(),
    });
    let invoker = view.options.security_invoker.then(|| "security_invoker=true".to_owned());
    let options: Vec<String> = invoker.into_iter().chain(check).collect();
    (!options.is_empty()).then_some(options)
}

/// The persistence of what is in a schema and belongs to a table, if to one.
fn persistence(schema: &str, table: Option<&Table>) -> &'static str {
    match table {
        _ if is_temporary_schema(schema) => "t",
        Some(table) if table.is_unlogged => "u",
        _ => "p",
    }
}

fn table_class(context: &ViewContext<'_>, table: &Table, rows: &mut TableRows) {
    let id = table.id.relation();
    let object = Object::Relation(id);
    let all = Privileges::OF_TABLES;
    let tuples = context.row_count(table);
    let size = (table.bucket_size != context.database.bucket_size())
        .then(|| format!("bucket_size={}", table.bucket_size));
    let colocated = context.catalog.colocated(table);
    let colocated = colocated.map(|other| format!("colocate_with={}.{}", other.schema, other.name));
    let options: Vec<String> = size.into_iter().chain(colocated).collect();
    let options = (!options.is_empty()).then_some(options);
    rows.row([
        ("oid", oids::relation(id).into()),
        ("relname", table.name.as_str().into()),
        ("relnamespace", oids::schema(&table.schema).into()),
        ("reltype", oids::row_type(id).into()),
        ("reloftype", table.extension.of_type.map_or(0, oids::user_type).into()),
        ("relpersistence", persistence(&table.schema, Some(table)).into()),
        ("relowner", roles::owner(context.catalog, &object).into()),
        ("relacl", roles::access_list(context.catalog, &object, all).into()),
        ("relam", oids::HEAP.into()),
        ("relfilenode", oids::relation(id).into()),
        ("relkind", if table.materialized.is_some() { "m" } else { "r" }.into()),
        ("relhasrules", table.materialized.is_some().into()),
        ("relnatts", (declared(table).count() as i64).into()),
        ("relchecks", (table.checks.len() as i64).into()),
        ("reltuples", Cell::Double(tuples as f64)),
        ("relhasindex", context.has_index(table).into()),
        ("relhastriggers", context.has_triggers(table).into()),
        ("relreplident", "d".into()),
        ("reloptions", options.into()),
    ]);
}

/// Adds an index by its id, its name and the number of its columns.
fn index_class(
    context: &ViewContext<'_>,
    table: &Table,
    (oid, name, columns): (i64, &str, usize),
    rows: &mut TableRows,
) {
    let id = table.id.relation();
    rows.row([
        ("oid", oid.into()),
        ("relname", name.into()),
        ("relnamespace", oids::schema(&table.schema).into()),
        ("relpersistence", persistence(&table.schema, Some(table)).into()),
        ("relowner", roles::owner(context.catalog, &Object::Relation(id)).into()),
        ("relam", oids::BTREE.into()),
        ("relfilenode", oid.into()),
        ("relkind", "i".into()),
        ("relnatts", (columns as i64).into()),
        ("reltuples", Cell::Double(context.row_count(table) as f64)),
        ("relreplident", "n".into()),
    ]);
}

fn system_class(shape: &Shape, rows: &mut TableRows) {
    rows.row([
        ("oid", shape.oid.into()),
        ("relname", shape.name.into()),
        ("relnamespace", oids::schema(shape.schema).into()),
        ("relpersistence", "p".into()),
        ("relowner", oids::BOOTSTRAP_SUPERUSER.into()),
        ("relam", if shape.kind == "r" { oids::HEAP } else { 0 }.into()),
        ("relkind", shape.kind.into()),
        ("relnatts", (shape.columns.len() as i64).into()),
        ("reltuples", Cell::Double(-1.0)),
        ("relhasrules", (shape.kind == "v").into()),
        ("relreplident", "n".into()),
    ]);
}

/// `pg_attribute`.
pub(super) fn attributes(context: &ViewContext<'_>, rows: &mut TableRows) {
    for table in context.tables() {
        let id = table.id.relation();
        for (number, column) in declared(table) {
            table_attribute(oids::relation(id), number, column, rows);
        }
    }
    for table in context.keyed() {
        let index = oids::key_index(table.id.relation());
        for (number, column) in (1..).zip(key_columns(table)) {
            attribute(index, number, &column.name, type_catalog::of_sql(&column.sql_type), rows);
            of_user_type(&column.sql_type, rows);
        }
    }
    for (index, table) in context.indexes() {
        let oid = oids::relation(index.file.id.relation());
        for (number, part) in (1..).zip(index_parts(index, table)) {
            attribute(oid, number, &part.name, type_catalog::of_sql(part.sql_type), rows);
            of_user_type(part.sql_type, rows);
        }
    }
    for (view, columns) in context.views() {
        for (number, (name, sql_type)) in (1..).zip(columns) {
            let of = type_catalog::of_sql(sql_type);
            attribute(oids::relation(view.id), number, name, of, rows);
            of_user_type(sql_type, rows);
            rows.set_last("attndims", 0_i64.into());
            let mut defaults = view.options.defaults.iter();
            rows.set_last("atthasdef", defaults.any(|(column, _)| column == name).into());
        }
    }
    for (user, attributes) in user_types::composites(context) {
        for (number, attribute) in (1..).zip(attributes) {
            let class = oids::user_type(user.id);
            let of = type_catalog::of_sql(&attribute.sql_type);
            self::attribute(class, number, &attribute.name, of, rows);
            of_user_type(&attribute.sql_type, rows);
        }
    }
    let own = [
        ("last_value", type_catalog::INT8),
        ("log_cnt", type_catalog::INT8),
        ("is_called", type_catalog::BOOL),
    ];
    for sequence in context.sequences() {
        for (number, (name, of)) in (1..).zip(own) {
            attribute(oids::relation(sequence.id), number, name, (of, -1), rows);
            rows.set_last("attnotnull", true.into());
        }
    }
    for shape in shape::all() {
        for (number, column) in (1..).zip(&shape.columns) {
            let of = system_type(column.type_name);
            attribute(shape.oid, number, column.name, (of, -1), rows);
            rows.set_last("attnotnull", column.required.into());
        }
    }
    rows.set_all("attislocal", true.into());
    rows.set_all("attstattarget", (-1_i64).into());
    rows.set_all("attcacheoff", (-1_i64).into());
}

/// The id of a type in a [`Shape`]. A domain of `information_schema` has the id of its base type.
fn system_type(name: &str) -> i64 {
    let base = match name {
        "cardinal_number" => "int4",
        "sql_identifier" => "name",
        "character_data" | "yes_or_no" => "varchar",
        "time_stamp" => "timestamptz",
        other => other,
    };
    type_catalog::by_name(base).unwrap_or(type_catalog::TEXT)
}

fn table_attribute(relation: i64, number: i64, column: &Column, rows: &mut TableRows) {
    attribute(relation, number, &column.name, type_catalog::of_sql(&column.sql_type), rows);
    rows.set_last("attnotnull", (!column.nullable).into());
    rows.set_last("atthasdef", stored_expression(column).is_some().into());
    rows.set_last("atthasmissing", column.missing.is_some().into());
    of_user_type(&column.sql_type, rows);
    let identity = match column.identity {
        Some(Identity::Always) => "a",
        Some(Identity::ByDefault) => "d",
        None => "",
    };
    rows.set_last("attidentity", identity.into());
    let generated = if column.generated.is_some() { "s" } else { "" };
    rows.set_last("attgenerated", generated.into());
}

/// Sets what an attribute has of a user's type, or of an array, in the last row.
fn of_user_type(sql_type: &SqlType, rows: &mut TableRows) {
    if sql_type.user_type().is_some_and(|user| user.labels().is_some())
        && !matches!(sql_type, SqlType::Array(_))
    {
        rows.set_last("attlen", 4_i64.into());
        rows.set_last("attbyval", true.into());
        rows.set_last("attstorage", "p".into());
    }
    if sql_type.attributes().is_some() {
        rows.set_last("attalign", "d".into());
    }
    if let SqlType::User(user) = sql_type
        && user.domain().is_some()
        && let Some(base) = type_catalog::by_oid(type_catalog::of_sql(sql_type.representation()).0)
    {
        rows.set_last("attlen", base.length.into());
        rows.set_last("attbyval", base.by_value.into());
        rows.set_last("attalign", base.align.into());
        rows.set_last("attstorage", base.storage.into());
        rows.set_last("attcollation", base.collation.into());
    }
    let dimensions = i64::from(matches!(sql_type, SqlType::Array(_)));
    rows.set_last("attndims", dimensions.into());
}

/// Adds a row to `pg_attribute`; `of` is the id and the modifier of the column's type.
fn attribute(relation: i64, number: i64, name: &str, of: (i64, i64), rows: &mut TableRows) {
    let (oid, modifier) = of;
    let known = type_catalog::by_oid(oid);
    rows.row([
        ("attrelid", relation.into()),
        ("attname", name.into()),
        ("atttypid", oid.into()),
        ("atttypmod", modifier.into()),
        ("attnum", number.into()),
        ("attlen", known.map_or(-1, |known| known.length).into()),
        ("attbyval", known.is_some_and(|known| known.by_value).into()),
        ("attalign", known.map_or("i", |known| known.align).into()),
        ("attstorage", known.map_or("x", |known| known.storage).into()),
        ("attcollation", known.map_or(0, |known| known.collation).into()),
    ]);
}

/// The expression of a column in `pg_attrdef`: its default, or the expression of a generated
/// column. Identity columns have none.
pub(super) fn stored_expression(column: &Column) -> Option<&String> {
    column.generated.as_ref().or_else(|| default_texts::own(column))
}

/// `pg_attrdef`.
pub(super) fn defaults(context: &ViewContext<'_>, rows: &mut TableRows) {
    let qualified = |text: &String, schema: &str| default_texts::qualified(context, text, schema);
    for table in context.tables() {
        let id = table.id.relation();
        for (number, column) in declared(table) {
            let Some(default) = stored_expression(column) else { continue };
            let shown = default_texts::shown(context, default, &column.sql_type);
            rows.row([
                ("oid", oids::default(id, column.id.0).into()),
                ("adrelid", oids::relation(id).into()),
                ("adnum", number.into()),
                ("adbin", shown.unwrap_or_else(|| qualified(default, &table.schema)).into()),
            ]);
        }
    }
    for (view, columns) in context.views() {
        for (name, default) in &view.options.defaults {
            let Some(at) = columns.iter().position(|(column, _)| column == name) else { continue };
            let shown = default_texts::shown(context, default, &columns[at].1);
            let number = at as u32 + 1;
            rows.row([
                ("oid", oids::default(view.id, number).into()),
                ("adrelid", oids::relation(view.id).into()),
                ("adnum", i64::from(number).into()),
                ("adbin", shown.unwrap_or_else(|| qualified(default, &view.schema)).into()),
            ]);
        }
    }
}
