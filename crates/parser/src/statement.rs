//! A parsed statement with its text and its place in the script.

use crate::alter_system::AlterSystem;
use crate::client_copy::{ClientCopy, What};
use crate::cursors::CursorStatement;
use crate::roles::RoleStatement;
use datafusion::sql::sqlparser::ast::Statement as Ast;
use grammar::Script;
use grammar::tree::NodeEnum;
use std::sync::{Arc, OnceLock};

/// One parsed statement of a script. Clones share the parsed body.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The text of the statement, without the semicolon. Passwords are removed.
    pub text: String,
    /// Characters of the script before the text. Added to a position in the text, it gives the
    /// position in the script.
    pub offset: usize,
    body: Arc<Body>,
    tree: Arc<OnceLock<Option<Script>>>,
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
    /// A query that only PostgreSQL's grammar has ([`Statement::query`]).
    Query,
    /// As `Query`, a statement that changes rows ([`Statement::change`]).
    Change,
}

impl Statement {
    pub(crate) fn new(text: String, offset: usize, body: Body) -> Self {
        Self { text, offset, body: Arc::new(body), tree: Arc::default() }
    }

    /// The query of the statement in PostgreSQL's parse tree: the statement itself, or what it prepares, explains or declares
    /// a cursor for. `None` if it has none, or is not in PostgreSQL's grammar. Locations are bytes of the [`text`](Self::text).
    pub fn query(&self) -> Option<&NodeEnum> {
        let is_query = |node: &&NodeEnum| matches!(node, NodeEnum::SelectStmt(_));
        self.innermost().filter(is_query).filter(|node| !changes_rows(node))
    }

    /// As [`query`](Self::query), the query of a CREATE TABLE AS, CREATE VIEW or COPY.
    pub fn source(&self) -> Option<&NodeEnum> {
        let inner = match self.innermost()? {
            NodeEnum::CreateTableAsStmt(create) => &create.query,
            NodeEnum::ViewStmt(create) => &create.query,
            NodeEnum::CopyStmt(copy) => &copy.query,
            _ => return None,
        };
        let node = inner.as_ref()?.node.as_ref()?;
        matches!(node, NodeEnum::SelectStmt(_)).then_some(node)
    }

    /// Whether the [`source`](Self::source) has changes in WITH.
    pub fn has_changing_source(&self) -> bool {
        self.source().is_some_and(changes_rows)
    }

    /// As [`query`](Self::query), the INSERT, UPDATE, DELETE or MERGE of the statement, or the query with changes in WITH.
    pub fn change(&self) -> Option<&NodeEnum> {
        self.innermost().filter(|node| changes_rows(node))
    }

    fn innermost(&self) -> Option<&NodeEnum> {
        let script = self.tree.get_or_init(|| grammar::parse(&self.text).ok()).as_ref()?;
        let [statement] = script.statements() else { return None };
        let mut node = statement.stmt.as_ref()?.node.as_ref()?;
        loop {
            let inner = match node {
                NodeEnum::PrepareStmt(prepare) => &prepare.query,
                NodeEnum::ExplainStmt(explain) => &explain.query,
                NodeEnum::DeclareCursorStmt(declare) => &declare.query,
                _ => return Some(node),
            };
            node = inner.as_ref()?.node.as_ref()?;
        }
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

    /// EXPLAIN of the statement, whose syntax tree is given. The text and offset are the statement's.
    pub(crate) fn explained_by(&self, explain: Ast) -> Self {
        let (text, tree) = (self.text.clone(), Arc::clone(&self.tree));
        Self { text, offset: self.offset, body: Arc::new(Body::Sql(explain)), tree }
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

/// Whether a statement changes rows itself, or by a change in its WITH.
fn changes_rows(node: &NodeEnum) -> bool {
    match node {
        NodeEnum::SelectStmt(select) => {
            select.with_clause.iter().flat_map(|with| &with.ctes).any(|cte| match &cte.node {
                Some(NodeEnum::CommonTableExpr(cte)) => {
                    let query = cte.ctequery.as_ref().and_then(|query| query.node.as_ref());
                    query.is_some_and(is_change)
                }
                _ => false,
            })
        }
        node => is_change(node),
    }
}

pub(crate) fn is_change(node: &NodeEnum) -> bool {
    use NodeEnum::{DeleteStmt, InsertStmt, MergeStmt, UpdateStmt};
    matches!(node, InsertStmt(_) | UpdateStmt(_) | DeleteStmt(_) | MergeStmt(_))
}
