//! CREATE SCHEMA.

use crate::roles::RoleName;
use crate::{Error, Result};
use grammar::tree::CreateSchemaStmt;

/// CREATE SCHEMA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSchema {
    /// The name; `None` for that of the owner.
    pub name: Option<String>,
    /// AUTHORIZATION: the owner.
    pub owner: Option<RoleName>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
}

impl CreateSchema {
    pub(crate) fn of(statement: &CreateSchemaStmt) -> Result<Self> {
        if !statement.schema_elts.is_empty() {
            return Err(Error::missing("CREATE SCHEMA with elements")
                .hint("Create the schema and then the elements."));
        }
        Ok(Self {
            name: crate::names::some(&statement.schemaname),
            owner: statement.authrole.as_ref().map(RoleName::of),
            if_not_exists: statement.if_not_exists,
        })
    }
}
