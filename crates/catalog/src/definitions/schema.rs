//! Schemas, and the names of temporary ones.

use serde::{Deserialize, Serialize};

/// A namespace for relations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The name.
    pub name: String,
    /// The text of COMMENT ON.
    pub comment: Option<String>,
}

/// Prefix of the names of temporary schemas.
const TEMPORARY: &str = "pg_temp_";

/// Returns the name of the schema for the temporary relations of a session.
pub fn temporary_schema(session: u32) -> String {
    format!("{TEMPORARY}{session}")
}

/// Whether a schema holds temporary relations of a session.
pub fn is_temporary_schema(name: &str) -> bool {
    name.starts_with(TEMPORARY)
}
