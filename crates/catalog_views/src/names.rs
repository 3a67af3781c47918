//! The names that every database has: the database itself, its system schemas and its first user.

/// The name of the database.
pub(crate) const DATABASE: &str = "pando";

/// The schemas of system tables.
pub(crate) const SYSTEM_SCHEMAS: [&str; 3] = ["pg_catalog", "information_schema", "pando"];

pub use session_settings::BOOTSTRAP_SUPERUSER;
