//! Queries.

use super::expr::{AggregateCall, Expr, SetCall, SortKey};
use super::window::WindowCall;
use system_catalog::SqlType;

/// The number of a relation, unique in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelationId(pub u32);

/// The number of a SELECT, unique in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SelectId(pub u32);

/// The number of a query in WITH, unique in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CteId(pub u32);

/// A query: SELECT, VALUES or a set operation, with the clauses around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The queries in WITH. Each refers to earlier ones only.
    pub with: Vec<Cte>,
    /// The rows.
    pub body: Body,
    /// ORDER BY. A key that is a column of the result is [`Kind::Output`](super::Kind::Output). Other keys are expressions
    /// like those of the select list, which only a [`Body::Select`] has.
    pub order_by: Vec<SortKey>,
    /// LIMIT and OFFSET.
    pub limit: Limit,
    /// The columns of the result.
    pub columns: Vec<Column>,
}

/// LIMIT and OFFSET, as expressions of type `int8`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limit {
    /// The number of rows; `None` is all.
    pub count: Option<Expr>,
    /// The number of rows to skip.
    pub offset: Option<Expr>,
    /// Whether rows that ORDER BY cannot tell from the last one follow it (WITH TIES).
    pub with_ties: bool,
}

/// A column of a relation or result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type.
    pub sql_type: SqlType,
}

/// A query in WITH.
#[derive(Debug, Clone, PartialEq)]
pub struct Cte {
    /// Its number.
    pub id: CteId,
    /// Its name.
    pub name: String,
    /// The query. A recursive one is a UNION whose right side refers to it.
    pub query: Query,
    /// Whether it refers to itself.
    pub is_recursive: bool,
    /// The number of references to it from elsewhere.
    pub references: u32,
    /// MATERIALIZED or NOT MATERIALIZED, if it is written.
    pub materialized: Option<bool>,
}

/// The part of a query that makes rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// SELECT.
    Select(Box<Select>),
    /// VALUES.
    Values(Vec<Vec<Expr>>),
    /// UNION, INTERSECT or EXCEPT.
    SetOperation(Box<SetOperation>),
}

/// A set operation.
#[derive(Debug, Clone, PartialEq)]
pub struct SetOperation {
    /// The operator.
    pub operator: SetOperator,
    /// Whether equal rows are kept (ALL).
    pub all: bool,
    /// The left query.
    pub left: Query,
    /// The right query.
    pub right: Query,
    /// The columns of the result, over the left query's ([`Kind::Output`](super::Kind::Output)).
    pub left_columns: Vec<Expr>,
    /// The columns of the result, over the right query's.
    pub right_columns: Vec<Expr>,
}

/// The operator of a set operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOperator {
    /// UNION.
    Union,
    /// INTERSECT.
    Intersect,
    /// EXCEPT.
    Except,
}

/// A SELECT. Its clauses are computed in the order of the fields; expressions of later ones refer to group keys,
/// aggregates, window functions and sets by their positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// Its number.
    pub id: SelectId,
    /// FROM: the items between commas.
    pub from: Vec<From>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// Whether rows are grouped: there is GROUP BY, HAVING or an aggregate.
    pub is_grouped: bool,
    /// The expressions of GROUP BY.
    pub group_by: Vec<Expr>,
    /// GROUPING SETS, ROLLUP and CUBE, expanded; `None` for plain GROUP BY.
    pub grouping_sets: Option<GroupingSets>,
    /// The aggregates.
    pub aggregates: Vec<AggregateCall>,
    /// HAVING.
    pub having: Option<Expr>,
    /// The window functions.
    pub windows: Vec<WindowCall>,
    /// The set-returning functions in the select list.
    pub sets: Vec<SetCall>,
    /// The select list.
    pub output: Vec<Output>,
    /// DISTINCT.
    pub distinct: Option<Distinct>,
}

impl Select {
    /// The expressions over some relations, without further clauses.
    pub fn plain(id: SelectId, from: Vec<From>, output: Vec<Output>) -> Self {
        Self {
            id,
            from,
            filter: None,
            is_grouped: false,
            group_by: Vec::new(),
            grouping_sets: None,
            aggregates: Vec::new(),
            having: None,
            windows: Vec::new(),
            sets: Vec::new(),
            output,
            distinct: None,
        }
    }
}

impl std::convert::From<Select> for Query {
    /// The query that is nothing but a SELECT.
    fn from(select: Select) -> Self {
        let columns = select.output.iter().map(Output::column).collect();
        Self {
            with: Vec::new(),
            body: Body::Select(Box::new(select)),
            order_by: Vec::new(),
            limit: Limit::default(),
            columns,
        }
    }
}

/// Each set lists positions in [`Select::group_by`].
pub type GroupingSets = Vec<Vec<usize>>;

/// An item of a select list.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The name.
    pub name: String,
    /// The value.
    pub expr: Expr,
}

impl Output {
    /// The column of the result.
    pub fn column(&self) -> Column {
        Column { name: self.name.clone(), sql_type: self.expr.sql_type }
    }
}

/// DISTINCT.
#[derive(Debug, Clone, PartialEq)]
pub enum Distinct {
    /// By the whole row.
    All,
    /// DISTINCT ON these expressions; items of the select list are [`Kind::Output`](super::Kind::Output).
    On(Vec<Expr>),
}

/// An item of FROM.
#[derive(Debug, Clone, PartialEq)]
pub enum From {
    /// A relation.
    Relation(Box<Relation>),
    /// A join.
    Join {
        /// The kind.
        kind: JoinKind,
        /// The left side.
        left: Box<From>,
        /// The right side.
        right: Box<From>,
        /// The condition; `None` if every pair joins.
        condition: Option<Expr>,
    },
}

/// The kind of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    /// INNER and CROSS.
    Inner,
    /// LEFT.
    Left,
    /// RIGHT.
    Right,
    /// FULL.
    Full,
}

/// A relation in FROM.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// Its number.
    pub id: RelationId,
    /// The name by which the statement calls it.
    pub alias: String,
    /// The columns, by the names of the statement.
    pub columns: Vec<Column>,
    /// Whether it refers to relations before it in FROM.
    pub is_lateral: bool,
    /// The source of its rows.
    pub source: Source,
}

/// The source of a relation's rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A table, by the handle that the catalog gave it; columns in its order.
    Table(u32),
    /// A query, also that of a view.
    Query(Box<Query>),
    /// A query in WITH.
    Cte(CteId),
    /// Functions, side by side.
    Functions {
        /// The calls.
        calls: Vec<SetCall>,
        /// Whether a last column numbers the rows (WITH ORDINALITY).
        ordinality: bool,
    },
}
