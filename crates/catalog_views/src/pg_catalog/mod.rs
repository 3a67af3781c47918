//! The schema `pg_catalog`, with the relations and columns of PostgreSQL 15.
//!
//! Every relation of PostgreSQL exists with all its columns ([`shape`]). The rows of some are
//! computed from the catalog. The others are empty, because Pando has no such objects:
//! policies, publications and so on. Object ids are in [`oids`].
//!
//! `data/make.sql` wrote the files in `data` from a PostgreSQL server.

pub mod class;
pub(crate) mod constraints;
pub(crate) mod default_texts;
mod locks;
pub mod oids;
mod relations;
pub(crate) mod roles;
pub(crate) mod routines;
mod sequences;
mod server;
mod sessions;
mod summaries;
mod triggers;
pub(crate) mod user_types;
pub(crate) mod view_uses;

pub(crate) use constraints::check_columns;
pub use deparse::{quote_ident, type_catalog};

use crate::rows::TableRows;
use crate::shape;
use crate::view_context::ViewContext;
use values::cells::Cell;

/// The rows of `pg_cast`.
const CAST_FILE: &str = include_str!("data/pg_cast.tsv");

/// The rows of `pg_get_keywords()`.
const KEYWORD_FILE: &str = include_str!("data/pg_keywords.tsv");
/// The rows of `pg_extension`: PL/pgSQL, which PostgreSQL has from the start, too.
const EXTENSION_FILE: &str = include_str!("data/pg_extension.tsv");
/// The rows of `pg_available_extensions`.
const AVAILABLE_FILE: &str = include_str!("data/pg_available_extensions.tsv");

/// The rows of a system table; `None` if there is none of this name.
pub(crate) fn table(context: &ViewContext<'_>, name: &str) -> Option<TableRows> {
    let mut rows = TableRows::new(shape::of("pg_catalog", name)?);
    let out = &mut rows;
    match name {
        "pg_class" => relations::classes(context, out),
        "pg_attribute" => relations::attributes(context, out),
        "pg_attrdef" => relations::defaults(context, out),
        "pg_index" => constraints::indexes(context, out),
        "pg_constraint" => constraints::constraints(context, out),
        "pg_namespace" => summaries::namespaces(context, out),
        "pg_tables" => summaries::tables(context, out),
        "pg_views" => summaries::views(context, out),
        "pg_matviews" => summaries::materialized_views(context, out),
        "pg_indexes" => summaries::indexes(context, out),
        "pg_description" => summaries::descriptions(context, out),
        "pg_shdescription" => summaries::shared_descriptions(context, out),
        "pg_rewrite" => summaries::rules(context, out),
        "pg_stat_user_tables" | "pg_stat_all_tables" => summaries::table_statistics(context, out),
        "pg_statio_user_tables" | "pg_statio_all_tables" => summaries::table_reads(context, out),
        "pg_stat_user_indexes" | "pg_stat_all_indexes" => summaries::index_statistics(context, out),
        "pg_sequence" => sequences::definitions(context, out),
        "pg_sequences" => sequences::states(context, out),
        "pg_depend" => sequences::dependencies(context, out),
        "pg_roles" | "pg_authid" => roles::roles(context.catalog, name == "pg_authid", out),
        "pg_user" | "pg_shadow" => roles::users(context.catalog, name == "pg_shadow", out),
        "pg_auth_members" => roles::members(context.catalog, out),
        "pg_database" => server::databases(out),
        "pg_tablespace" => server::tablespaces(out),
        "pg_am" => server::access_methods(out),
        "pg_language" => server::languages(out),
        "pg_extension" => out.file(EXTENSION_FILE, "oid", |_| true),
        "pg_available_extensions" => out.file(AVAILABLE_FILE, "name", |_| true),
        "pg_collation" => server::collations(out),
        "pg_get_keywords" => out.file(KEYWORD_FILE, "word", |_| true),
        "pg_settings" | "pg_show_all_settings" => server::settings(context, out),
        "pg_stat_activity" => sessions::activity(context, out),
        "pg_prepared_statements" | "pg_prepared_statement" => sessions::prepared(context, out),
        "pg_cursors" | "pg_cursor" => sessions::cursors(context, out),
        "pg_locks" => locks::locks(context, out),
        "pg_stat_database" => server::database_statistics(context, out),
        "pg_timezone_names" => server::time_zones(out),
        "pg_timezone_abbrevs" => server::zone_abbreviations(out),
        "pg_type" => types(context, out),
        "pg_enum" => user_types::labels(context, out),
        "pg_trigger" => triggers::triggers(context, out),
        "pg_aggregate" => routines::aggregates(context, out),
        "pg_proc" => routines::procedures(context, out),
        "pg_opclass" => {
            out.file(constraints::OPCLASS_FILE, "oid", |_| true);
            roles::set_system_owner(out, "opcnamespace", "opcowner");
        }
        "pg_cast" => out.file(CAST_FILE, "oid", |_| true),
        _ => {}
    }
    Some(rows)
}

/// `pg_type`: PostgreSQL's types, and the row types of tables and views.
fn types(context: &ViewContext<'_>, rows: &mut TableRows) {
    rows.file(type_catalog::FILE, "oid", |_| true);
    roles::set_system_owner(rows, "typnamespace", "typowner");
    relations::row_types(context, rows);
    rows.set_all("typtypmod", Cell::Number(-1));
    user_types::types(context, rows, &|domain| {
        let text = domain.default.as_ref()?;
        let shown = default_texts::shown(context, text, &domain.base);
        Some(shown.unwrap_or_else(|| text.clone()))
    });
}
