//! pg_class, pg_attribute, pg_attrdef: what relations there are, and their columns.

use super::super::rows::TableRows;
use super::super::shape::{self, Shape};
use super::world::{World, declared, key_columns};
use super::{oids, roles, type_catalog};
use crate::values::cells::Cell;
use store::catalog::{
    Column, Identity, Object, Privileges, Relation, SqlType, Table, is_temporary_schema,
};

/// pg_class.
pub(super) fn classes(world: &World<'_>, rows: &mut TableRows) {
    for relation in world.catalog.relations() {
        match relation {
            Relation::Table(table) => {
                table_class(world, table, rows);
                if !table.has_hidden_key() {
                    index_class(world, table, rows);
                }
            }
            Relation::View(view) => {
                let columns = world.views.get(&view.id).map_or(0, Vec::len);
                let cells = Class { kind: "v", method: 0, columns, tuples: -1, has_index: false };
                class(world, relation, &cells, rows);
            }
            Relation::Sequence(_) => {
                let cells = Class { kind: "S", method: 0, columns: 3, tuples: 1, has_index: false };
                class(world, relation, &cells, rows);
            }
        }
    }
    shape::all().for_each(|shape| system_class(shape, rows));
    rows.set_all("relispopulated", true.into());
}

/// The types in pg_type that tables and views are: those of their rows.
pub(super) fn row_types(world: &World<'_>, rows: &mut TableRows) {
    for relation in world.catalog.relations() {
        let id = relation.id();
        if matches!(relation, Relation::Sequence(_)) {
            continue;
        }
        rows.row([
            ("oid", oids::row_type(id).into()),
            ("typname", relation.name().into()),
            ("typnamespace", oids::schema(relation.schema()).into()),
            ("typowner", roles::owner(world.catalog, &Object::Relation(id)).into()),
            ("typlen", Cell::Number(-1)),
            ("typtype", "c".into()),
            ("typcategory", "C".into()),
            ("typisdefined", true.into()),
            ("typdelim", ",".into()),
            ("typrelid", oids::relation(id).into()),
            ("typinput", type_catalog::RECORD_IN.into()),
            ("typoutput", type_catalog::RECORD_OUT.into()),
            ("typreceive", type_catalog::RECORD_RECEIVE.into()),
            ("typsend", type_catalog::RECORD_SEND.into()),
            ("typalign", "d".into()),
            ("typstorage", "x".into()),
        ]);
    }
}

/// What differs between kinds of relations.
struct Class {
    kind: &'static str,
    method: i64,
    columns: usize,
    tuples: i64,
    has_index: bool,
}

fn class(world: &World<'_>, relation: &Relation, of: &Class, rows: &mut TableRows) {
    let id = relation.id();
    let object = Object::Relation(id);
    let all = match relation {
        Relation::Sequence(_) => Privileges::OF_SEQUENCES,
        Relation::Table(_) | Relation::View(_) => Privileges::OF_TABLES,
    };
    rows.row([
        ("oid", oids::relation(id).into()),
        ("relname", relation.name().into()),
        ("relnamespace", oids::schema(relation.schema()).into()),
        ("reltype", if of.kind == "S" { 0 } else { oids::row_type(id) }.into()),
        ("relpersistence", persistence(relation.schema()).into()),
        ("relowner", roles::owner(world.catalog, &object).into()),
        ("relacl", roles::access_list(world.catalog, &object, all).into()),
        ("relam", of.method.into()),
        ("relfilenode", if of.kind == "v" { 0 } else { oids::relation(id) }.into()),
        ("relkind", of.kind.into()),
        ("relnatts", (of.columns as i64).into()),
        ("reltuples", Cell::Double(of.tuples as f64)),
        ("relhasindex", of.has_index.into()),
        ("relhasrules", (of.kind == "v").into()),
        ("relreplident", if of.kind == "r" { "d" } else { "n" }.into()),
    ]);
}

fn persistence(schema: &str) -> &'static str {
    if is_temporary_schema(schema) { "t" } else { "p" }
}

fn table_class(world: &World<'_>, table: &Table, rows: &mut TableRows) {
    let id = table.id.relation();
    let object = Object::Relation(id);
    let all = Privileges::OF_TABLES;
    let tuples = world.row_count(table);
    let size = (table.bucket_size != world.database.bucket_size())
        .then(|| format!("bucket_size={}", table.bucket_size));
    let colocated = world.catalog.colocated(table);
    let colocated = colocated.map(|other| format!("colocate_with={}.{}", other.schema, other.name));
    let options: Vec<String> = size.into_iter().chain(colocated).collect();
    let options = (!options.is_empty()).then_some(options);
    rows.row([
        ("oid", oids::relation(id).into()),
        ("relname", table.name.as_str().into()),
        ("relnamespace", oids::schema(&table.schema).into()),
        ("reltype", oids::row_type(id).into()),
        ("relpersistence", persistence(&table.schema).into()),
        ("relowner", roles::owner(world.catalog, &object).into()),
        ("relacl", roles::access_list(world.catalog, &object, all).into()),
        ("relam", oids::HEAP.into()),
        ("relfilenode", oids::relation(id).into()),
        ("relkind", "r".into()),
        ("relnatts", (declared(table).count() as i64).into()),
        ("relchecks", (table.checks.len() as i64).into()),
        ("reltuples", Cell::Double(tuples as f64)),
        ("relhasindex", (!table.has_hidden_key()).into()),
        ("relreplident", "d".into()),
        ("reloptions", options.into()),
    ]);
}

fn index_class(world: &World<'_>, table: &Table, rows: &mut TableRows) {
    let id = table.id.relation();
    rows.row([
        ("oid", oids::key_index(id).into()),
        ("relname", table.key_name().into()),
        ("relnamespace", oids::schema(&table.schema).into()),
        ("relpersistence", persistence(&table.schema).into()),
        ("relowner", roles::owner(world.catalog, &Object::Relation(id)).into()),
        ("relam", oids::BTREE.into()),
        ("relfilenode", oids::key_index(id).into()),
        ("relkind", "i".into()),
        ("relnatts", (table.key.len() as i64).into()),
        ("reltuples", Cell::Double(world.row_count(table) as f64)),
        ("relreplident", "n".into()),
    ]);
}

fn system_class(shape: &Shape, rows: &mut TableRows) {
    rows.row([
        ("oid", shape.oid.into()),
        ("relname", shape.name.into()),
        ("relnamespace", oids::schema(shape.schema).into()),
        ("relpersistence", "p".into()),
        ("relowner", roles::OWNER.into()),
        ("relam", if shape.kind == "r" { oids::HEAP } else { 0 }.into()),
        ("relkind", shape.kind.into()),
        ("relnatts", (shape.columns.len() as i64).into()),
        ("reltuples", Cell::Double(-1.0)),
        ("relhasrules", (shape.kind == "v").into()),
        ("relreplident", "n".into()),
    ]);
}

/// pg_attribute.
pub(super) fn attributes(world: &World<'_>, rows: &mut TableRows) {
    for table in world.tables() {
        let id = table.id.relation();
        for (number, column) in declared(table) {
            table_attribute(oids::relation(id), number, column, rows);
        }
    }
    for table in world.keyed() {
        let index = oids::key_index(table.id.relation());
        for (number, column) in (1..).zip(key_columns(table)) {
            attribute(index, number, &column.name, type_catalog::of_sql(&column.sql_type), rows);
        }
    }
    for (view, columns) in world.views() {
        for (number, (name, sql_type)) in (1..).zip(columns) {
            let of = type_catalog::of_sql(sql_type);
            attribute(oids::relation(view.id), number, name, of, rows);
        }
    }
    let own = [("last_value", type_catalog::INT8), ("is_called", type_catalog::BOOL)];
    for sequence in world.sequences() {
        for (number, (name, of)) in (1..).zip(own) {
            attribute(oids::relation(sequence.id), number, name, (of, -1), rows);
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

/// The id of a type that a system table's shape names; the domains of information_schema as what they are over.
fn system_type(name: &str) -> i64 {
    let over = match name {
        "cardinal_number" => "int4",
        "sql_identifier" => "name",
        "character_data" | "yes_or_no" => "varchar",
        "time_stamp" => "timestamptz",
        other => other,
    };
    type_catalog::by_name(over).unwrap_or(type_catalog::TEXT)
}

fn table_attribute(relation: i64, number: i64, column: &Column, rows: &mut TableRows) {
    attribute(relation, number, &column.name, type_catalog::of_sql(&column.sql_type), rows);
    rows.set_last("attnotnull", (!column.nullable).into());
    rows.set_last("atthasdef", kept_default(column).is_some().into());
    rows.set_last("atthasmissing", column.missing.is_some().into());
    let dimensions = i64::from(matches!(column.sql_type, SqlType::Array(_)));
    rows.set_last("attndims", dimensions.into());
    let identity = match column.identity {
        Some(Identity::Always) => "a",
        Some(Identity::ByDefault) => "d",
        None => "",
    };
    rows.set_last("attidentity", identity.into());
    let generated = if column.generated.is_some() { "s" } else { "" };
    rows.set_last("attgenerated", generated.into());
}

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

/// The default of a column that PostgreSQL would keep: identity columns have none, and what a computed column is computed
/// from is kept as one.
fn kept_default(column: &Column) -> Option<&String> {
    let default = column.default.as_ref().filter(|_| column.identity.is_none());
    column.generated.as_ref().or(default)
}

/// pg_attrdef.
pub(super) fn defaults(world: &World<'_>, rows: &mut TableRows) {
    for table in world.tables() {
        let id = table.id.relation();
        for (number, column) in declared(table) {
            let Some(default) = kept_default(column) else { continue };
            rows.row([
                ("oid", oids::default(id, column.id.0).into()),
                ("adrelid", oids::relation(id).into()),
                ("adnum", number.into()),
                ("adbin", default.clone().into()),
            ]);
        }
    }
}
