//! EXPLAIN.

use crate::names::node;
use crate::options::Given;
use crate::{Error, Result, tag};
use grammar::tree::{ExplainStmt, NodeEnum};

/// EXPLAIN, by its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explain {
    /// The options.
    pub options: Vec<Given>,
    /// EXPLAIN EXECUTE: what is executed.
    pub execute: Option<crate::Execute>,
}

impl Explain {
    pub(crate) fn of(statement: &ExplainStmt) -> Result<Self> {
        let execute = match node(statement.query.as_deref())? {
            NodeEnum::SelectStmt(_)
            | NodeEnum::InsertStmt(_)
            | NodeEnum::UpdateStmt(_)
            | NodeEnum::DeleteStmt(_)
            | NodeEnum::MergeStmt(_) => None,
            NodeEnum::ExecuteStmt(execute) => Some(crate::Execute::of(execute)?),
            other => return Err(Error::missing(format!("EXPLAIN of {}", tag(other)))),
        };
        Ok(Self { options: Given::all(&statement.options), execute })
    }
}
