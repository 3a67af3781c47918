//! The schema `pg_catalog`, as PostgreSQL 15 has it: what psql, drivers and tools ask before they do anything.
//!
//! Every relation of PostgreSQL's is there with all its columns ([`shape`](super::shape)). Those that Pando has
//! something to say in are computed from the catalog when they are asked; the others are empty, which is the
//! truth: there are no triggers, no policies, no publications. Ids are in [`oids`].
//!
//! The files under `data` were written from a PostgreSQL by `data/make.sql`.

mod constraints;
pub(crate) mod definitions;
pub(crate) mod oids;
mod relations;
pub(crate) mod roles;
pub(crate) mod sequences;
pub(crate) mod server;
mod sessions;
mod summaries;
pub(crate) mod type_catalog;
pub(crate) mod world;

pub(crate) use constraints::{check_columns, check_definition, key_definition};
pub(crate) use definitions::quote_ident;

use super::rows::TableRows;
use super::shape;
use crate::values::cells::Cell;
use std::collections::HashMap;
use std::sync::LazyLock;
use world::World;

const PROC_FILE: &str = include_str!("data/pg_proc.tsv");
const CAST_FILE: &str = include_str!("data/pg_cast.tsv");

/// One of the tables; `None` where there is none of this name.
pub(crate) fn table(world: &World<'_>, name: &str) -> Option<TableRows> {
    let mut rows = TableRows::new(shape::of("pg_catalog", name)?);
    let out = &mut rows;
    match name {
        "pg_class" => relations::classes(world, out),
        "pg_attribute" => relations::attributes(world, out),
        "pg_attrdef" => relations::defaults(world, out),
        "pg_index" => constraints::indexes(world, out),
        "pg_constraint" => constraints::constraints(world, out),
        "pg_namespace" => summaries::namespaces(world, out),
        "pg_tables" => summaries::tables(world, out),
        "pg_views" => summaries::views(world, out),
        "pg_indexes" => summaries::indexes(world, out),
        "pg_description" => summaries::descriptions(world, out),
        "pg_rewrite" => summaries::rules(world, out),
        "pg_stat_user_tables" | "pg_stat_all_tables" => summaries::table_statistics(world, out),
        "pg_statio_user_tables" | "pg_statio_all_tables" => summaries::table_reads(world, out),
        "pg_stat_user_indexes" | "pg_stat_all_indexes" => summaries::index_statistics(world, out),
        "pg_sequence" => sequences::definitions(world, out),
        "pg_sequences" => sequences::states(world, out),
        "pg_depend" => sequences::dependencies(world, out),
        "pg_roles" | "pg_authid" => roles::roles(world.catalog, name == "pg_authid", out),
        "pg_user" | "pg_shadow" => roles::users(world.catalog, name == "pg_shadow", out),
        "pg_auth_members" => roles::members(world.catalog, out),
        "pg_database" => server::databases(out),
        "pg_tablespace" => server::tablespaces(out),
        "pg_am" => server::access_methods(out),
        "pg_language" => server::languages(out),
        "pg_collation" => server::collations(out),
        "pg_get_keywords" => server::keywords(out),
        "pg_settings" | "pg_show_all_settings" => server::settings(world, out),
        "pg_stat_activity" => sessions::activity(world, out),
        "pg_prepared_statements" | "pg_prepared_statement" => sessions::prepared(world, out),
        "pg_cursors" | "pg_cursor" => sessions::cursors(world, out),
        "pg_stat_database" => server::database_statistics(world, out),
        "pg_timezone_names" => server::time_zones(out),
        "pg_type" => types(world, out),
        "pg_proc" => procedures(world, out),
        "pg_opclass" => {
            out.file(constraints::OPCLASS_FILE, "oid", |_| true);
            own(out, "opcnamespace", "opcowner");
        }
        "pg_cast" => out.file(CAST_FILE, "oid", |_| true),
        _ => {}
    }
    Some(rows)
}

/// Says that objects are the system's own.
fn own(rows: &mut TableRows, namespace: &str, owner: &str) {
    rows.set_all(namespace, Cell::Number(oids::PG_CATALOG));
    rows.set_all(owner, Cell::Number(roles::OWNER));
}

fn types(world: &World<'_>, rows: &mut TableRows) {
    rows.file(type_catalog::FILE, "oid", |_| true);
    own(rows, "typnamespace", "typowner");
    relations::row_types(world, rows);
    rows.set_all("typtypmod", Cell::Number(-1));
}

/// The functions that can be called, and those that read and write types, which drivers look up.
fn procedures(world: &World<'_>, rows: &mut TableRows) {
    rows.file(PROC_FILE, "proname", |name| (world.functions)(name) || is_type_function(name));
    own(rows, "pronamespace", "proowner");
    rows.set_all("procost", Cell::Number(1));
}

fn is_type_function(name: &str) -> bool {
    let ends = ["in", "out", "recv", "send", "_handler", "_typanalyze"];
    ends.iter().any(|end| name.ends_with(end))
}

/// A function, as others need to know it.
#[derive(Debug)]
pub(crate) struct Routine {
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<i64>,
    pub(crate) returns: i64,
    pub(crate) returns_set: bool,
}

impl Routine {
    fn parse(line: &'static str, positions: &[usize; 5]) -> Option<(i64, Self)> {
        let values: Vec<&'static str> = line.split('\t').collect();
        let [oid, name, arguments, returns, set] = positions.map(|p| values.get(p).copied());
        let arguments = arguments?.split(' ').filter_map(|oid| oid.parse().ok()).collect();
        let returns = returns?.parse().ok()?;
        let routine = Self { name: name?, arguments, returns, returns_set: set? == "t" };
        Some((oid?.parse().ok()?, routine))
    }
}

static ROUTINES: LazyLock<HashMap<i64, Routine>> = LazyLock::new(|| {
    let mut lines = PROC_FILE.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let names = ["oid", "proname", "proargtypes", "prorettype", "proretset"];
    let positions = names.map(|name| header.iter().position(|n| *n == name).unwrap_or(usize::MAX));
    lines.filter_map(|line| Routine::parse(line, &positions)).collect()
});

/// The function of an id.
pub(crate) fn routine(oid: i64) -> Option<&'static Routine> {
    ROUTINES.get(&oid)
}

/// The name of a function.
pub(crate) fn procedure_name(oid: i64) -> Option<&'static str> {
    routine(oid).map(|routine| routine.name)
}

/// The id of the first function of a name.
pub(crate) fn procedure_by_name(name: &str) -> Option<i64> {
    let named = ROUTINES.iter().filter(|(_, routine)| routine.name == name);
    named.map(|(oid, _)| *oid).min()
}
