//! TRUNCATE.

use crate::Result;
use crate::names::RelationName;
use grammar::tree::{DropBehavior, TruncateStmt};

/// TRUNCATE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncate {
    /// The tables.
    pub names: Vec<RelationName>,
    /// RESTART IDENTITY.
    pub restarts: bool,
    /// CASCADE.
    pub cascade: bool,
}

impl Truncate {
    pub(crate) fn of(statement: &TruncateStmt) -> Result<Self> {
        let names = statement.relations.iter().map(RelationName::of_node).collect::<Result<_>>()?;
        let cascade = statement.behavior() == DropBehavior::DropCascade;
        Ok(Self { names, restarts: statement.restart_seqs, cascade })
    }
}
