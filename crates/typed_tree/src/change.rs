//! INSERT, UPDATE, DELETE and MERGE.

use super::expr::Expr;
use super::query::{Cte, CteId, Output, Query, RelationId};

/// A statement: what it does itself, and the changes in its WITH.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The changes in WITH, in the order in which PostgreSQL executes them. Each reads earlier ones only.
    pub changes: Vec<NamedChange>,
    /// The number of changes that are executed before the statement itself, because it reads them.
    pub before: usize,
    /// What the statement does itself.
    pub main: Main,
}

/// A change in WITH.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedChange {
    /// The number by which queries refer to the rows that it returns.
    pub id: CteId,
    /// Its name.
    pub name: String,
    /// The change.
    pub change: Change,
}

/// What a statement does itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Main {
    /// It returns the rows of a query.
    Query(Box<Query>),
    /// It changes a table.
    Change(Box<Change>),
}

/// A statement that changes the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The table, by the handle that the catalog gave it.
    pub table: u32,
    /// The number by which expressions refer to its rows.
    pub relation: RelationId,
    /// What is done.
    pub action: Action,
    /// RETURNING.
    pub returning: Option<Vec<Output>>,
    /// What new rows must fulfil for the views through which they are written, in the order of the checks.
    pub checks: Vec<ViewCheck>,
}

/// The condition of a view WITH CHECK OPTION. Its columns are those of the changed table.
#[derive(Debug, Clone, PartialEq)]
pub struct ViewCheck {
    /// The name of the view.
    pub view: String,
    /// The condition.
    pub condition: Expr,
}

impl Change {
    /// The query of the rows that are inserted or changed. Its WITH is that of the whole statement.
    pub fn rows(&self) -> &Query {
        match &self.action {
            Action::Insert(insert) => &insert.rows,
            Action::Update { rows, .. } | Action::Delete { rows, .. } => rows,
            Action::Merge(merge) => &merge.rows,
        }
    }

    /// The queries in WITH.
    pub fn with_mut(&mut self) -> &mut Vec<Cte> {
        match &mut self.action {
            Action::Insert(insert) => &mut insert.rows.with,
            Action::Update { rows, .. } | Action::Delete { rows, .. } => &mut rows.with,
            Action::Merge(merge) => &mut merge.rows.with,
        }
    }
}

/// What is done to the rows of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// INSERT.
    Insert(Box<Insert>),
    /// UPDATE of the rows that a query finds. The query's columns are all columns of the table, the new values, and the
    /// columns of other relations that RETURNING shows.
    Update {
        /// The columns that get the new values.
        targets: Vec<Target>,
        /// The query.
        rows: Query,
        /// Whether it joins other relations, so that it may find a row several times.
        joins: bool,
    },
    /// DELETE of the rows that a query finds. The query's columns are all columns of the table, and the columns of other
    /// relations that RETURNING shows.
    Delete {
        /// The query.
        rows: Query,
        /// Whether it joins other relations, so that it may find a row several times.
        joins: bool,
    },
    /// MERGE.
    Merge(Box<Merge>),
}

/// INSERT.
#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    /// The columns that get the query's columns.
    pub targets: Vec<Target>,
    /// OVERRIDING.
    pub overriding: Overriding,
    /// The rows.
    pub rows: Query,
    /// ON CONFLICT.
    pub conflict: Option<Conflict>,
}

/// OVERRIDING: what becomes of values for identity columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overriding {
    /// Nothing is said: columns that are GENERATED ALWAYS refuse them.
    Nothing,
    /// SYSTEM VALUE: they are inserted.
    SystemValue,
    /// USER VALUE: the columns get their defaults instead.
    UserValue,
}

/// MERGE of a source into the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The pairs of rows. The query's columns are all columns of the table, which are NULL for a row of the source that has
    /// no partner, and those of the source that the clauses read.
    pub rows: Query,
    /// The clauses. The first that applies to a pair decides.
    pub whens: Vec<When>,
}

/// A WHEN clause of MERGE. Its expressions are over the columns of [`Merge::rows`], by the number of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct When {
    /// MATCHED, else NOT MATCHED.
    pub is_matched: bool,
    /// AND.
    pub condition: Option<Expr>,
    /// THEN.
    pub action: MergeAction,
}

/// What a WHEN clause does.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeAction {
    /// DO NOTHING.
    Nothing,
    /// DELETE.
    Delete,
    /// UPDATE SET.
    Update {
        /// The columns that get the values.
        targets: Vec<Target>,
        /// The new values.
        values: Vec<Expr>,
    },
    /// INSERT.
    Insert {
        /// The columns that get the values.
        targets: Vec<Target>,
        /// The values.
        values: Vec<Expr>,
        /// OVERRIDING.
        overriding: Overriding,
    },
}

/// A column that a statement assigns to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Its position in the table.
    pub column: usize,
    /// Whether it gets DEFAULT, in each row.
    pub is_default: bool,
}

/// ON CONFLICT.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The constraint.
    pub target: ConflictTarget,
    /// DO UPDATE; `None` is DO NOTHING.
    pub update: Option<ConflictUpdate>,
}

/// The constraint whose violation ON CONFLICT handles.
#[derive(Debug, Clone, PartialEq)]
pub enum ConflictTarget {
    /// Any.
    Any,
    /// Those on these keys.
    Keys(ConflictKeys),
    /// The one of this name.
    Constraint(String),
}

/// The keys that a conflict is about, in any order. Expressions are those of
/// `analyzer::bind_row`.
#[derive(Debug, Clone, PartialEq)]
pub struct ConflictKeys {
    /// Columns.
    pub columns: Vec<usize>,
    /// Other keys.
    pub expressions: Vec<Expr>,
    /// The condition of the rows that are unique.
    pub condition: Option<Expr>,
}

/// DO UPDATE.
#[derive(Debug, Clone, PartialEq)]
pub struct ConflictUpdate {
    /// The number by which expressions refer to the row that was to be inserted.
    pub excluded: RelationId,
    /// The columns that get the values.
    pub targets: Vec<Target>,
    /// The new values.
    pub values: Vec<Expr>,
    /// WHERE.
    pub filter: Option<Expr>,
}
