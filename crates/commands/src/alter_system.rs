//! ALTER SYSTEM: settings that apply to all servers of a cluster.

use crate::names::incomplete;
use crate::setting::words;
use crate::{Error, Result};
use grammar::tree::{AlterSystemStmt, VariableSetKind};

/// `ALTER SYSTEM SET name = value` or `ALTER SYSTEM RESET name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterSystem {
    /// The name of the setting, in lower case.
    pub name: String,
    /// The new value; `None` restores the default.
    pub value: Option<String>,
}

impl AlterSystem {
    pub(crate) fn of(statement: &AlterSystemStmt) -> Result<Self> {
        let set = statement.setstmt.as_ref().ok_or_else(incomplete)?;
        let value = match set.kind() {
            VariableSetKind::VarSetValue => Some(words(&set.args).join(", ")),
            VariableSetKind::VarSetDefault | VariableSetKind::VarReset => None,
            _ => return Err(Error::missing("ALTER SYSTEM RESET ALL")),
        };
        Ok(Self { name: set.name.to_lowercase(), value })
    }
}
