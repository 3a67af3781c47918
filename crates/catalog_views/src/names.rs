//! The names that every database has: the database itself, its system schemas and its first user.

use values::{Error, SqlState};

/// The name of the database.
pub(crate) const DATABASE: &str = "pando";

/// The schemas of system tables.
pub(crate) const SYSTEM_SCHEMAS: [&str; 3] = ["pg_catalog", "information_schema", "pando"];

pub use session_settings::BOOTSTRAP_SUPERUSER;

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
