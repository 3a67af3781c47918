//! A parsed statement with its text and its place in the script.

use commands::{Command, RoleStatement};
use grammar::Script;
use grammar::tree::NodeEnum;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, SqlState};

/// One parsed statement of a script. Clones share what is parsed.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The text of the statement, without the semicolon. Passwords are removed.
    pub text: String,
    /// Characters of the script before the text. Added to a position in the text, it gives the
    /// position in the script.
    pub offset: usize,
    script: Arc<Script>,
    body: Arc<Body>,
    /// What an EXPLAIN EXECUTE or CREATE TABLE AS EXECUTE executes.
    executed: Option<Arc<Statement>>,
    /// The types of the parameters, if their values do not say them; empty otherwise.
    parameter_types: Arc<[Option<SqlType>]>,
}

/// A parsed statement, by what it is.
#[derive(Debug, Clone)]
pub enum Body {
    /// A query ([`Statement::query`]).
    Query,
    /// INSERT, UPDATE, DELETE or MERGE, or a query with changes in WITH ([`Statement::change`]).
    Change,
    /// Any other statement.
    Command(Command),
    /// A statement that is not executed.
    Refused(Error),
}

impl Statement {
    pub(crate) fn new(text: String, offset: usize, script: Script, body: Body) -> Self {
        let (script, body) = (Arc::new(script), Arc::new(body));
        Self { text, offset, script, body, executed: None, parameter_types: [].into() }
    }

    /// The statement with the types of its parameters.
    pub fn with_parameter_types(self, types: &[Option<SqlType>]) -> Self {
        Self { parameter_types: types.into(), ..self }
    }

    /// The types of its parameters, if their values do not say them; empty otherwise.
    pub fn parameter_types(&self) -> &[Option<SqlType>] {
        &self.parameter_types
    }

    /// The parsed statement.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The command, if the statement is one.
    pub fn command(&self) -> Option<&Command> {
        match &*self.body {
            Body::Command(command) => Some(command),
            _ => None,
        }
    }

    /// The query of the statement in PostgreSQL's parse tree: the statement itself, or what it prepares, explains or declares
    /// a cursor for. Locations are bytes of the [`text`](Self::text).
    pub fn query(&self) -> Option<&NodeEnum> {
        let is_query = |node: &&NodeEnum| matches!(node, NodeEnum::SelectStmt(_));
        self.innermost().filter(is_query).filter(|node| !changes_rows(node))
    }

    /// As [`query`](Self::query), the query of a CREATE TABLE AS, CREATE VIEW or COPY.
    pub fn source(&self) -> Option<&NodeEnum> {
        self.read().filter(|node| matches!(node, NodeEnum::SelectStmt(_)))
    }

    /// Whether the [`source`](Self::source) has changes in WITH.
    pub fn has_changing_source(&self) -> bool {
        self.source().is_some_and(changes_rows)
    }

    /// As [`query`](Self::query), the INSERT, UPDATE, DELETE or MERGE of the statement, or the query with changes in WITH;
    /// also what a CREATE TABLE AS or COPY reads.
    pub fn change(&self) -> Option<&NodeEnum> {
        [self.innermost(), self.read()].into_iter().flatten().find(|node| changes_rows(node))
    }

    /// What a CREATE TABLE AS, CREATE VIEW or COPY reads.
    fn read(&self) -> Option<&NodeEnum> {
        let inner = match self.innermost()? {
            NodeEnum::CreateTableAsStmt(_) if let Some(executed) = &self.executed => {
                return executed.innermost();
            }
            NodeEnum::CreateTableAsStmt(create) => &create.query,
            NodeEnum::ViewStmt(create) => &create.query,
            NodeEnum::CopyStmt(copy) => &copy.query,
            _ => return None,
        };
        inner.as_ref()?.node.as_ref()
    }

    fn outermost(&self) -> Option<&NodeEnum> {
        let [statement] = self.script.statements() else { return None };
        statement.stmt.as_ref()?.node.as_ref()
    }

    fn innermost(&self) -> Option<&NodeEnum> {
        let node = self.outermost()?;
        let inner = match node {
            NodeEnum::PrepareStmt(prepare) => &prepare.query,
            NodeEnum::ExplainStmt(explain) => &explain.query,
            NodeEnum::DeclareCursorStmt(declare) => &declare.query,
            _ => return Some(node),
        };
        inner.as_ref()?.node.as_ref()
    }

    /// What the statement prepares, explains, copies or stores, or declares a cursor for, as a statement with the same text.
    pub fn inner(&self) -> Option<Self> {
        if let Some(executed) = &self.executed {
            return Some(Self::clone(executed));
        }
        let node = match self.command()? {
            Command::Prepare(_) | Command::Explain(_) | Command::Declare(_) => self.innermost()?,
            _ => self.source().or_else(|| self.change())?,
        };
        let body = match changes_rows(node) {
            false => Body::Query,
            true => Body::Change,
        };
        Some(Self { body: Arc::new(body), ..self.clone() })
    }

    /// EXPLAIN EXECUTE or CREATE TABLE AS EXECUTE with the statement that it executes.
    pub(crate) fn of_executed(&self, executed: &Self) -> Self {
        let is_stored = matches!(self.command(), Some(Command::Definition(_)));
        let body = match executed.innermost() {
            Some(NodeEnum::SelectStmt(_)) => Arc::clone(&self.body),
            _ if is_stored => {
                let message = "prepared statement is not a SELECT";
                Arc::new(Body::Refused(Error::new(SqlState::WrongObjectType, message)))
            }
            _ => Arc::clone(&self.body),
        };
        Self { body, executed: Some(Arc::new(executed.clone())), ..self.clone() }
    }

    /// The parse tree of a query or a change of rows; `None` for other statements.
    pub fn rows(&self) -> Option<&NodeEnum> {
        match *self.body {
            Body::Query => self.query(),
            Body::Change => self.change(),
            Body::Command(_) | Body::Refused(_) => None,
        }
    }

    /// Whether it is COPY FROM STDIN or COPY TO STDOUT.
    pub fn is_client_copy(&self) -> bool {
        matches!(self.command(), Some(Command::Copy(copy)) if copy.is_of_client())
    }

    /// Whether it is COPY FROM STDIN.
    pub fn is_copy_in(&self) -> bool {
        matches!(self.command(), Some(Command::Copy(copy)) if copy.is_of_client() && copy.is_from)
    }

    /// Whether it contains a password. The [`text`](Self::text) does not.
    pub fn keeps_secret(&self) -> bool {
        match &*self.body {
            Body::Command(Command::Role(statement)) => statement.password().is_some(),
            Body::Refused(_) => self.text == HIDDEN,
            _ => false,
        }
    }

    /// The command, if it is one on transactions or savepoints.
    pub fn transaction(&self) -> Option<&commands::Transaction> {
        match self.command()? {
            Command::Transaction(transaction) => Some(transaction),
            _ => None,
        }
    }

    /// Whether it is COMMIT or ROLLBACK, including ROLLBACK TO SAVEPOINT.
    pub fn ends_transaction(&self) -> bool {
        use commands::Transaction::{Commit, Rollback, RollbackTo};
        matches!(self.transaction(), Some(Commit { .. } | Rollback { .. } | RollbackTo(_)))
    }

    /// Whether it is COMMIT or ROLLBACK with AND CHAIN.
    pub fn chains(&self) -> bool {
        use commands::Transaction::{Commit, Rollback};
        matches!(self.transaction(), Some(Commit { chain: true } | Rollback { chain: true }))
    }
}

/// What stands for a text with a password.
const HIDDEN: &str = "<hidden>";

/// The text of a statement without the password in it. Its place in the text is unknown, so the whole text is replaced.
pub(crate) fn without_password(text: &str, body: &Body) -> String {
    match body {
        Body::Command(Command::Role(statement)) if statement.password().is_some() => {
            match statement {
                RoleStatement::Create { name, .. } => {
                    format!("CREATE ROLE {name} PASSWORD <hidden>")
                }
                _ => "ALTER ROLE PASSWORD <hidden>".to_owned(),
            }
        }
        Body::Refused(_) if text.to_ascii_lowercase().contains("password") => HIDDEN.to_owned(),
        _ => text.to_owned(),
    }
}

/// Whether a statement changes rows itself, or by a change in its WITH.
pub(crate) fn changes_rows(node: &NodeEnum) -> bool {
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

fn is_change(node: &NodeEnum) -> bool {
    use NodeEnum::{DeleteStmt, InsertStmt, MergeStmt, UpdateStmt};
    matches!(node, InsertStmt(_) | UpdateStmt(_) | DeleteStmt(_) | MergeStmt(_))
}
