//! The names that every database has: the database itself, its system schemas and its first user.

use store::catalog::{DEFAULT_SCHEMA, Schema};
use values::{Error, SqlState};

/// The name of the database.
pub(crate) const DATABASE: &str = "pando";

/// The schemas of system tables.
pub(crate) const SYSTEM_SCHEMAS: [&str; 3] = ["pg_catalog", "information_schema", "pando"];

/// The tables and views of `pg_catalog` that only superusers may read.
const CLOSED_TABLES: [&str; 5] =
    ["pg_authid", "pg_largeobject", "pg_statistic", "pg_statistic_ext_data", "pg_user_mapping"];
const CLOSED_VIEWS: [&str; 8] = [
    "pg_backend_memory_contexts",
    "pg_config",
    "pg_file_settings",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_replication_origin_status",
    "pg_shadow",
    "pg_shmem_allocations",
];

/// Whether a relation of `pg_catalog` that only superusers may read is a table or a view. `None` for other relations.
pub(crate) fn closed_kind(name: &str) -> Option<&'static str> {
    let is_view = CLOSED_VIEWS.contains(&name);
    let is_closed = is_view || CLOSED_TABLES.contains(&name);
    is_closed.then_some(if is_view { "view" } else { "table" })
}

pub use session_settings::BOOTSTRAP_SUPERUSER;

/// The comment on a schema. The first one has a comment from the start, by which `pg_dump` knows that it is PostgreSQL's.
pub(crate) fn comment_on(schema: &Schema) -> Option<String> {
    let usual = || (schema.name == DEFAULT_SCHEMA).then(|| "standard public schema".to_owned());
    schema.comment.clone().or_else(usual)
}

/// The roles that PostgreSQL has from the start, and Pando has not.
const PREDEFINED_ROLES: [&str; 12] = [
    "pg_checkpoint",
    "pg_database_owner",
    "pg_execute_server_program",
    "pg_monitor",
    "pg_read_all_data",
    "pg_read_all_settings",
    "pg_read_all_stats",
    "pg_read_server_files",
    "pg_signal_backend",
    "pg_stat_scan_tables",
    "pg_write_all_data",
    "pg_write_server_files",
];

/// The error for a role that does not exist: 42704, or 0A000 if PostgreSQL has it from the start.
pub fn unknown_role(name: &str) -> Error {
    if PREDEFINED_ROLES.contains(&name) {
        return Error::unsupported(format!("the role \"{name}\" is not supported"));
    }
    Error::new(SqlState::UndefinedObject, format!("role \"{name}\" does not exist"))
}
