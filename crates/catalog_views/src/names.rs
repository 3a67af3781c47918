//! The names that every database has: the database itself, its system schemas and its first user.

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
