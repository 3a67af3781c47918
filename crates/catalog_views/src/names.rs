//! The names that every database has: the database itself, its system schemas and its first user.

/// The name of the database.
pub(crate) const DATABASE: &str = "pando";

/// The schemas of system tables.
pub(crate) const SYSTEM_SCHEMAS: [&str; 3] = ["pg_catalog", "information_schema", "pando"];

/// The bootstrap superuser. It owns every object that no role owns, and it is the user of every
/// session while no role exists.
pub const BOOTSTRAP_SUPERUSER: &str = "pando";
