//! A parsed statement with its text and its place in the script.

use crate::alter_system::AlterSystem;
use crate::client_copy::{ClientCopy, What};
use crate::cursors::CursorStatement;
use crate::roles::RoleStatement;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use std::sync::Arc;

/// One parsed statement of a script. Clones share the parsed body.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The text of the statement, without the semicolon. Passwords are removed.
    pub text: String,
    /// Characters of the script before the text. Added to a position in the text, it gives the
    /// position in the script.
    pub offset: usize,
    body: Arc<Body>,
}

/// A parsed statement, by the grammar that it belongs to.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a statement has one body, on the heap")]
pub enum Body {
    /// A statement of the SQL parser's grammar.
    Sql(Ast),
    /// COPY FROM STDIN or COPY TO STDOUT.
    ClientCopy(ClientCopy),
    /// A statement about roles, privileges or owners.
    Role(RoleStatement),
    /// DECLARE, FETCH or MOVE.
    Cursor(CursorStatement),
    /// ALTER SYSTEM.
    AlterSystem(AlterSystem),
}

impl Statement {
    pub(crate) fn new(text: String, offset: usize, body: Body) -> Self {
        Self { text, offset, body: Arc::new(body) }
    }

    /// The parsed statement.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The syntax tree, if the statement is one of the SQL parser's grammar.
    pub fn ast(&self) -> Option<&Ast> {
        match &*self.body {
            Body::Sql(ast) => Some(ast),
            _ => None,
        }
    }

    /// Like [`ast`](Self::ast), but mutable. A shared body is copied.
    pub(crate) fn ast_mut(&mut self) -> Option<&mut Ast> {
        match Arc::make_mut(&mut self.body) {
            Body::Sql(ast) => Some(ast),
            _ => None,
        }
    }

    /// Like [`ast`](Self::ast), but by value.
    pub(crate) fn into_ast(self) -> Option<Ast> {
        match Arc::unwrap_or_clone(self.body) {
            Body::Sql(ast) => Some(ast),
            _ => None,
        }
    }

    /// A statement with another syntax tree and the same text and offset.
    pub fn with_ast(&self, ast: Ast) -> Self {
        Self::new(self.text.clone(), self.offset, Body::Sql(ast))
    }

    /// Whether it is COPY FROM STDIN or COPY TO STDOUT.
    pub fn is_client_copy(&self) -> bool {
        matches!(*self.body, Body::ClientCopy(_))
    }

    /// Whether it is COPY FROM STDIN.
    pub fn is_copy_in(&self) -> bool {
        matches!(&*self.body, Body::ClientCopy(copy) if matches!(copy.what, What::In { .. }))
    }

    /// Whether it contains a password. The [`text`](Self::text) does not.
    pub fn keeps_secret(&self) -> bool {
        matches!(&*self.body, Body::Role(statement) if statement.password().is_some())
    }

    /// Whether it is COMMIT or ROLLBACK, including ROLLBACK TO SAVEPOINT.
    pub fn ends_transaction(&self) -> bool {
        matches!(self.ast(), Some(Ast::Commit { .. } | Ast::Rollback { .. }))
    }

    /// Whether it is COMMIT or ROLLBACK with AND CHAIN.
    pub fn chains(&self) -> bool {
        match self.ast() {
            Some(Ast::Commit { chain, .. } | Ast::Rollback { chain, .. }) => *chain,
            _ => false,
        }
    }
}
