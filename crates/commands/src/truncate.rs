//! TRUNCATE.

use crate::Result;
use crate::names::RelationName;
use grammar::tree::TruncateStmt;

/// TRUNCATE. Nothing refers to rows of other tables, so that CASCADE and RESTRICT are the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncate {
    /// The tables.
    pub names: Vec<RelationName>,
    /// RESTART IDENTITY.
    pub restarts: bool,
}

impl Truncate {
    pub(crate) fn of(statement: &TruncateStmt) -> Result<Self> {
        let names = statement.relations.iter().map(RelationName::of_node).collect::<Result<_>>()?;
        Ok(Self { names, restarts: statement.restart_seqs })
    }
}
