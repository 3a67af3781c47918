//! The schema `information_schema` of the SQL standard, with the views and columns of PostgreSQL
//! 15.
//!
//! Every view of PostgreSQL exists with all its columns ([`shape`]). Views about objects that Pando
//! does not have are empty. The views do not list system relations.

mod columns;
mod constraints;
mod domains;
mod foreign_keys;
mod privileges;
mod routines;
mod triggers;

use crate::names::{DATABASE, SYSTEM_SCHEMAS};
use crate::pg_catalog::{roles, view_uses};
use crate::rows::TableRows;
use crate::shape;
use crate::view_context::ViewContext;
use deparse::definitions;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::catalog::{CheckOption, Object, Relation, Sequence, SqlType, TableId, TriggerEvents};
use values::cells::Cell;

/// The rows of a view; `None` if there is none of this name.
pub(crate) fn table(context: &ViewContext<'_>, name: &str) -> Option<TableRows> {
    let mut rows = TableRows::new(shape::of("information_schema", name)?);
    let out = &mut rows;
    match name {
        "schemata" => schemata(context, out),
        "tables" => tables(context, out),
        "views" => views(context, out),
        "sequences" => sequences(context, out),
        "columns" => columns::columns(context, out),
        "attributes" => columns::attributes(context, out),
        "user_defined_types" => columns::user_defined_types(context, out),
        "element_types" => columns::element_types(context, out),
        "table_constraints" => {
            constraints::tables(context, out);
            foreign_keys::tables(context, out);
        }
        "key_column_usage" => {
            constraints::key_columns(context, out);
            foreign_keys::key_columns(context, out);
        }
        "constraint_column_usage" => {
            constraints::column_usage(context, out);
            foreign_keys::column_usage(context, out);
        }
        "constraint_table_usage" => {
            constraints::table_usage(context, out);
            foreign_keys::table_usage(context, out);
        }
        "referential_constraints" => foreign_keys::references(context, out),
        "check_constraints" => {
            constraints::checks(context, out);
            domains::conditions(context, out);
        }
        "domains" => domains::domains(context, out),
        "domain_constraints" => domains::constraints(context, out),
        "domain_udt_usage" => domains::types(context, out),
        "column_domain_usage" => domains::columns(context, out),
        "column_udt_usage" => columns::types(context, out),
        "collations" => ["default", "C", "POSIX"].into_iter().for_each(|name| {
            out.row([
                ("collation_catalog", DATABASE.into()),
                ("collation_schema", "pg_catalog".into()),
                ("collation_name", name.into()),
                ("pad_attribute", "NO PAD".into()),
            ]);
        }),
        "table_privileges" | "role_table_grants" => privileges::tables(context, out),
        "column_privileges" | "role_column_grants" => privileges::columns(context, out),
        "routine_privileges" => privileges::routines(context, out),
        "view_table_usage" => view_tables(context, out),
        "triggers" => triggers::triggers(context, out),
        "triggered_update_columns" => triggers::columns(context, out),
        "routines" => routines::routines(context, out),
        "parameters" => routines::parameters(context, out),
        "enabled_roles" => enabled_roles(context, out),
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

/// `enabled_roles`: the roles whose privileges the current user has.
fn enabled_roles(context: &ViewContext<'_>, rows: &mut TableRows) {
    for role in roles::all(context.catalog) {
        if context.access.has_role(&role.name) {
            rows.row([("role_name", role.name.into())]);
        }
    }
}

/// YES or NO.
fn yes(flag: bool) -> Cell {
    if flag { "YES" } else { "NO" }.into()
}

fn schemata(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (name, _) in context.schemas() {
        let held = context.access.privileges(&Object::Schema(name.to_string()));
        if held.is_empty() && !SYSTEM_SCHEMAS.contains(&name.as_str()) {
            continue;
        }
        let owner =
            roles::owner_name(context.catalog, &Object::Schema(name.to_string())).to_owned();
        rows.row([
            ("catalog_name", DATABASE.into()),
            ("schema_name", name.into()),
            ("schema_owner", owner.into()),
        ]);
    }
}

fn tables(context: &ViewContext<'_>, rows: &mut TableRows) {
    for relation in context.catalog.relations().filter(|relation| context.shows(relation)) {
        let temporary = relation.is_temporary();
        let kind = match relation {
            Relation::Table(table) if table.materialized.is_some() => continue,
            Relation::Table(_) if temporary => "LOCAL TEMPORARY",
            Relation::Table(_) => "BASE TABLE",
            Relation::View(_) => "VIEW",
            Relation::Sequence(_) | Relation::Index(_) => continue,
        };
        let of_type = match relation {
            Relation::Table(table) => table.extension.of_type,
            _ => None,
        };
        let of_type = of_type.and_then(|id| context.catalog.user_type_by_id(id));
        rows.row([
            ("table_catalog", DATABASE.into()),
            ("table_schema", relation.schema().into()),
            ("table_name", relation.name().into()),
            ("table_type", kind.into()),
            ("is_insertable_into", yes(context.updatable(relation).insert)),
            ("is_typed", yes(of_type.is_some())),
            ("commit_action", temporary.then_some("PRESERVE").into()),
        ]);
        if let Some(of_type) = of_type {
            rows.set_last("user_defined_type_catalog", DATABASE.into());
            rows.set_last("user_defined_type_schema", of_type.schema.as_str().into());
            rows.set_last("user_defined_type_name", of_type.name.as_str().into());
        }
    }
}

fn views(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (view, _) in context.views() {
        let triggers = context.catalog.triggers_of(TableId(view.id.0));
        let fires = |is_of_kind: fn(&TriggerEvents) -> bool| {
            yes(triggers.iter().any(|of| of.is_instead && is_of_kind(&of.events)))
        };
        let updatable = context.updatable(&Relation::View(Arc::clone(view)));
        let check = match view.options.check {
            None => "NONE",
            Some(CheckOption::Local) => "LOCAL",
            Some(CheckOption::Cascaded) => "CASCADED",
        };
        rows.row([
            ("table_catalog", DATABASE.into()),
            ("table_schema", view.schema.as_str().into()),
            ("table_name", view.name.as_str().into()),
            ("view_definition", definitions::view(view).into()),
            ("check_option", check.into()),
            ("is_updatable", yes(updatable.update && updatable.delete)),
            ("is_insertable_into", yes(updatable.insert)),
            ("is_trigger_updatable", fires(|events| events.update)),
            ("is_trigger_deletable", fires(|events| events.delete)),
            ("is_trigger_insertable_into", fires(|events| events.insert)),
        ]);
    }
}

/// `view_table_usage`: the tables and views of the current user that views read.
fn view_tables(context: &ViewContext<'_>, rows: &mut TableRows) {
    for (view, _) in context.views() {
        let mut known = BTreeSet::new();
        for relation in view_uses::of_view(context, view).into_iter().map(|used| used.relation) {
            let is_listed = match relation {
                Relation::Table(table) => table.materialized.is_none(),
                Relation::View(_) => true,
                Relation::Sequence(_) | Relation::Index(_) => false,
            };
            let owner = roles::owner_name(context.catalog, &Object::Relation(relation.id()));
            if !is_listed || !context.access.has_role(owner) || !known.insert(relation.id()) {
                continue;
            }
            rows.row([
                ("view_catalog", DATABASE.into()),
                ("view_schema", view.schema.as_str().into()),
                ("view_name", view.name.as_str().into()),
                ("table_catalog", DATABASE.into()),
                ("table_schema", relation.schema().into()),
                ("table_name", relation.name().into()),
            ]);
        }
    }
}

fn sequences(context: &ViewContext<'_>, rows: &mut TableRows) {
    // Those of identity columns are not listed.
    let fills_identity = |sequence: &Sequence| {
        let Some((table, id)) = sequence.owned_by else { return false };
        let table = context.catalog.table_by_id(table);
        let mut columns = table.iter().flat_map(|table| &table.columns);
        columns.any(|column| column.id == id && column.identity.is_some())
    };
    for sequence in context.sequences().filter(|sequence| !fills_identity(sequence)) {
        let sql_type = context.type_of(sequence);
        let precision: i64 = match sql_type {
            SqlType::SmallInt => 16,
            SqlType::Integer => 32,
            _ => 64,
        };
        rows.row([
            ("sequence_catalog", DATABASE.into()),
            ("sequence_schema", sequence.schema.as_str().into()),
            ("sequence_name", sequence.name.as_str().into()),
            ("data_type", sql_type.to_string().as_str().into()),
            ("numeric_precision", precision.into()),
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
