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

/// The name by which each session means its own temporary schema. The names of all temporary schemas begin with it.
pub const OWN_TEMPORARY_SCHEMA: &str = "pg_temp";

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

/// Whether a text of SQL may name a temporary schema.
pub fn may_name_temporary_schema(text: &str) -> bool {
    text.to_ascii_lowercase().contains(OWN_TEMPORARY_SCHEMA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_temporary_schemas_in_any_case() {
        assert!(may_name_temporary_schema("SELECT PG_TEMP.f()"));
        assert!(may_name_temporary_schema(&temporary_schema(7)));
        assert!(!may_name_temporary_schema("SELECT f()"));
    }
}
