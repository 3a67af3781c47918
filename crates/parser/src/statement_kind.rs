//! Classifies statements for metrics.

use crate::statement::{Body, Statement};
use commands::Command;
use grammar::tree::NodeEnum;

/// A kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// Queries, EXPLAIN and FETCH.
    Select,
    /// INSERT.
    Insert,
    /// UPDATE and MERGE.
    Update,
    /// DELETE.
    Delete,
    /// COPY in either direction.
    Copy,
    /// BEGIN, COMMIT, ROLLBACK, savepoints.
    Transaction,
    /// SET, SHOW, RESET.
    Setting,
    /// All other statements, most of which change definitions.
    Definition,
}

impl StatementKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Self; 8] = [
        Self::Select,
        Self::Insert,
        Self::Update,
        Self::Delete,
        Self::Copy,
        Self::Transaction,
        Self::Setting,
        Self::Definition,
    ];

    /// The name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Insert => "insert",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Copy => "copy",
            Self::Transaction => "transaction",
            Self::Setting => "setting",
            Self::Definition => "definition",
        }
    }
}

impl Statement {
    /// The kind of the statement.
    pub fn kind(&self) -> StatementKind {
        let command = match self.body() {
            Body::Query => return StatementKind::Select,
            Body::Change => {
                return match self.change() {
                    Some(NodeEnum::InsertStmt(_)) => StatementKind::Insert,
                    Some(NodeEnum::DeleteStmt(_)) => StatementKind::Delete,
                    _ => StatementKind::Update,
                };
            }
            Body::Refused(_) => return StatementKind::Definition,
            Body::Command(command) => command,
        };
        match command {
            Command::Copy(_) => StatementKind::Copy,
            Command::Declare(_) | Command::Fetch(_) => StatementKind::Select,
            Command::Explain(_) | Command::Execute(_) => StatementKind::Select,
            Command::Transaction(_) => StatementKind::Transaction,
            Command::Setting(_) => StatementKind::Setting,
            _ => StatementKind::Definition,
        }
    }
}
