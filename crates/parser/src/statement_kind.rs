//! Classifies statements for metrics.

use crate::statement::{Body, Statement};
use datafusion::sql::sqlparser::ast::Statement as Ast;
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
        let ast = match self.body() {
            Body::ClientCopy(_) => return StatementKind::Copy,
            Body::Cursor(_) | Body::Query => return StatementKind::Select,
            Body::Role(_) | Body::AlterSystem(_) => return StatementKind::Definition,
            Body::Change => {
                return match self.change() {
                    Some(NodeEnum::InsertStmt(_)) => StatementKind::Insert,
                    Some(NodeEnum::DeleteStmt(_)) => StatementKind::Delete,
                    _ => StatementKind::Update,
                };
            }
            Body::Sql(ast) => ast,
        };
        match ast {
            Ast::Query(_) | Ast::Explain { .. } | Ast::Execute { .. } => StatementKind::Select,
            Ast::Insert(_) => StatementKind::Insert,
            Ast::Update(_) | Ast::Merge(_) => StatementKind::Update,
            Ast::Delete(_) => StatementKind::Delete,
            Ast::Copy { .. } => StatementKind::Copy,
            Ast::StartTransaction { .. }
            | Ast::Commit { .. }
            | Ast::Rollback { .. }
            | Ast::Savepoint { .. }
            | Ast::ReleaseSavepoint { .. } => StatementKind::Transaction,
            Ast::Set(_) | Ast::ShowVariable { .. } | Ast::Reset(_) => StatementKind::Setting,
            _ => StatementKind::Definition,
        }
    }
}
