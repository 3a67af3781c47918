//! The schema `information_schema`, as the SQL standard and PostgreSQL have it.
//!
//! All of PostgreSQL's views are there with all their columns ([`shape`](super::shape)); those about what Pando does
//! not have are empty. User relations are listed, the system's own are not.

mod columns;
mod constraints;
mod privileges;

use super::pg_catalog::definitions;
use super::pg_catalog::roles;
use super::pg_catalog::world::{DATABASE, SYSTEM_SCHEMAS, World};
use super::rows::TableRows;
use super::shape;
use crate::values::cells::Cell;
use store::catalog::{Object, Relation};

/// One of the views; `None` where there is none of this name.
pub(crate) fn table(world: &World<'_>, name: &str) -> Option<TableRows> {
    let mut rows = TableRows::new(shape::of("information_schema", name)?);
    let out = &mut rows;
    match name {
        "schemata" => schemata(world, out),
        "tables" => tables(world, out),
        "views" => views(world, out),
        "sequences" => sequences(world, out),
        "columns" => columns::columns(world, out),
        "element_types" => columns::element_types(world, out),
        "table_constraints" => constraints::tables(world, out),
        "key_column_usage" => constraints::key_columns(world, out),
        "constraint_column_usage" => constraints::column_usage(world, out),
        "constraint_table_usage" => constraints::table_usage(world, out),
        "check_constraints" => constraints::checks(world, out),
        "table_privileges" | "role_table_grants" => privileges::tables(world, out),
        "column_privileges" | "role_column_grants" => privileges::columns(world, out),
        "enabled_roles" => enabled_roles(world, out),
        "information_schema_catalog_name" => out.row([("catalog_name", DATABASE.into())]),
        "character_sets" => out.row([
            ("character_set_name", "UTF8".into()),
            ("character_repertoire", "UCS".into()),
            ("form_of_use", "UTF8".into()),
            ("default_collate_catalog", DATABASE.into()),
        ]),
        _ => {}
    }
    Some(rows)
}

/// The roles whose rights whoever asks has.
fn enabled_roles(world: &World<'_>, rows: &mut TableRows) {
    for role in roles::all(world.catalog) {
        if world.access.has_role(&role.name) {
            rows.row([("role_name", role.name.into())]);
        }
    }
}

/// YES or NO.
fn yes(flag: bool) -> Cell {
    if flag { "YES" } else { "NO" }.into()
}

fn schemata(world: &World<'_>, rows: &mut TableRows) {
    for (name, _) in world.schemas() {
        let held = world.access.privileges(&Object::Schema(name.to_string()));
        if held.is_empty() && !SYSTEM_SCHEMAS.contains(&name.as_str()) {
            continue;
        }
        let owner = roles::owner_name(world.catalog, &Object::Schema(name.to_string())).to_owned();
        rows.row([
            ("catalog_name", DATABASE.into()),
            ("schema_name", name.into()),
            ("schema_owner", owner.into()),
        ]);
    }
}

fn tables(world: &World<'_>, rows: &mut TableRows) {
    for relation in world.catalog.relations().filter(|relation| world.shows(relation)) {
        let temporary = relation.is_temporary();
        let kind = match relation {
            Relation::Table(_) if temporary => "LOCAL TEMPORARY",
            Relation::Table(_) => "BASE TABLE",
            Relation::View(_) => "VIEW",
            Relation::Sequence(_) => continue,
        };
        rows.row([
            ("table_catalog", DATABASE.into()),
            ("table_schema", relation.schema().into()),
            ("table_name", relation.name().into()),
            ("table_type", kind.into()),
            ("is_insertable_into", yes(kind != "VIEW")),
            ("is_typed", yes(false)),
            ("commit_action", temporary.then_some("PRESERVE").into()),
        ]);
    }
}

fn views(world: &World<'_>, rows: &mut TableRows) {
    for (view, _) in world.views() {
        rows.row([
            ("table_catalog", DATABASE.into()),
            ("table_schema", view.schema.as_str().into()),
            ("table_name", view.name.as_str().into()),
            ("view_definition", definitions::view(view).into()),
            ("check_option", "NONE".into()),
            ("is_updatable", yes(false)),
            ("is_insertable_into", yes(false)),
            ("is_trigger_updatable", yes(false)),
            ("is_trigger_deletable", yes(false)),
            ("is_trigger_insertable_into", yes(false)),
        ]);
    }
}

fn sequences(world: &World<'_>, rows: &mut TableRows) {
    for sequence in world.sequences() {
        rows.row([
            ("sequence_catalog", DATABASE.into()),
            ("sequence_schema", sequence.schema.as_str().into()),
            ("sequence_name", sequence.name.as_str().into()),
            ("data_type", "bigint".into()),
            ("numeric_precision", 64_i64.into()),
            ("numeric_precision_radix", 2_i64.into()),
            ("numeric_scale", 0_i64.into()),
            ("start_value", sequence.start.into()),
            ("minimum_value", sequence.min.into()),
            ("maximum_value", sequence.max.into()),
            ("increment", sequence.increment.into()),
            ("cycle_option", yes(sequence.cycle)),
        ]);
    }
}
