//! Expressions.

use super::query::{Column, Query, RelationId, SelectId};
use std::sync::Arc;
use system_catalog::functions::Volatility;
use system_catalog::{Oid, SqlType};

/// Subscripts: lower and upper bounds of slices; of an index the upper one.
pub type Subscripts = Vec<(Option<Expr>, Option<Expr>)>;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: Kind,
    /// The type of its value.
    pub sql_type: SqlType,
    /// Where it stands in the statement.
    pub location: Location,
}

impl Expr {
    /// An expression at a byte of the statement.
    pub fn new(kind: Kind, sql_type: impl Into<SqlType>, location: i32) -> Self {
        Self { kind, sql_type: sql_type.into(), location: Location(location) }
    }

    /// NULL of a type.
    pub fn null(sql_type: impl Into<SqlType>) -> Self {
        Self::new(Kind::Literal(Literal::Null), sql_type, -1)
    }
}

/// A byte of the statement's text; -1 if unknown. All locations are equal, so that expressions compare by their meaning.
#[derive(Debug, Clone, Copy)]
pub struct Location(pub i32);

impl PartialEq for Location {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A constant.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// NULL.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A value of an integer type.
    Integer(i64),
    /// A value of any type, as the type's input function reads it. While the type is `unknown`, the context decides it.
    Text(String),
}

/// The kinds of expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A constant.
    Literal(Literal),
    /// `$n`, from 1.
    Parameter(u32),
    /// A column of a relation of this query or of one around it; columns count from 0.
    Column(RelationId, usize),
    /// A relation's row as one value; NULL where an outer join made the row up.
    WholeRow(RelationId),
    /// The object id of a table; NULL where an outer join made the row up.
    TableOid(RelationId),
    /// A column of a query's own result, from 0: in ORDER BY of set operations, in their conversions, and on the right of
    /// comparisons with a subquery.
    Output(usize),
    /// A group key of a SELECT.
    GroupKey(SelectId, usize),
    /// An aggregate of a SELECT.
    Aggregate(SelectId, usize),
    /// GROUPING of these group keys.
    Grouping(SelectId, Vec<usize>),
    /// A window function of a SELECT.
    Window(SelectId, usize),
    /// The value of a set-returning function in a select list.
    Set(SelectId, usize),
    /// A call of a function, also through an operator.
    Call(Call),
    /// A long chain of operators: `a + b - c ...`.
    Chain(Box<Chain>),
    /// The value of the step before, in a step of a chain.
    Running,
    /// A conversion of a value.
    Cast(Cast),
    /// AND of at least two.
    And(Vec<Expr>),
    /// OR of at least two.
    Or(Vec<Expr>),
    /// NOT.
    Not(Box<Expr>),
    /// IS NULL.
    IsNull(Box<Expr>),
    /// IS NOT NULL.
    IsNotNull(Box<Expr>),
    /// IS TRUE and the like.
    IsTruth(Box<Expr>, TruthTest),
    /// IS DISTINCT FROM: the operator `=` with both sides.
    IsDistinct(Call),
    /// NULLIF: the operator `=` with both sides. The first is the value.
    NullIf(Call),
    /// CASE: conditions with values, and ELSE. Of a CASE with an operand the conditions are comparisons.
    Case {
        /// WHEN and THEN.
        branches: Vec<(Expr, Expr)>,
        /// ELSE, or NULL.
        otherwise: Box<Expr>,
    },
    /// COALESCE.
    Coalesce(Vec<Expr>),
    /// GREATEST.
    Greatest(Vec<Expr>),
    /// LEAST.
    Least(Vec<Expr>),
    /// ARRAY[...] of items of the element type, or of arrays.
    Array(Vec<Expr>),
    /// ROW(...).
    Row(Vec<Expr>),
    /// A row whose fields have names.
    NamedRow(Vec<String>, Vec<Expr>),
    /// A comparison of a value with each item of an array or list.
    Quantified(Box<Quantified>),
    /// `a[i]` and `a[i:j]`.
    Subscript {
        /// The array.
        array: Box<Expr>,
        /// The subscripts.
        subscripts: Subscripts,
        /// Whether it is a slice.
        is_slice: bool,
    },
    /// A field of a row.
    Field(Box<FieldValue>),
    /// A subquery as a value.
    Subquery(Box<Subquery>),
    /// CURRENT_DATE and the like.
    ValueFunction(ValueFunction),
    /// A call of a user's function that runs for rows.
    Foreign(ForeignCall),
}

/// A call of a user's function that is not expanded. Arguments have the types that it declares.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeignCall {
    /// The id of the function in the catalog.
    pub function: u32,
    /// Whether it gives other values for the same arguments.
    pub volatility: Volatility,
    /// Whether a NULL argument makes the value NULL.
    pub is_strict: bool,
    /// The arguments.
    pub arguments: Vec<Expr>,
}

/// A long chain of operators, which is not as deep as it is long. The only step of a chain may use the value before it several
/// times: it is computed once.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The first operands, with the operator between them.
    pub first: Expr,
    /// The calls of the other operators. The left operand of each is [`Kind::Running`]. Or a CASE with comparisons of it.
    pub steps: Vec<Expr>,
}

/// A call of a function. Arguments have the types that it declares.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The function.
    pub function: Oid,
    /// The operator that stands for it.
    pub operator: Option<Oid>,
    /// The arguments, the variadic ones among them.
    pub arguments: Vec<Expr>,
    /// Whether the last argument is the array of variadic ones (VARIADIC).
    pub is_variadic_array: bool,
    /// The function of a user that is executed; `None` for a function of the system.
    pub executed: Option<Arc<Executed>>,
}

impl Call {
    /// A call of a function of the system.
    pub fn of_system(function: Oid, arguments: Vec<Expr>) -> Self {
        Self { function, operator: None, arguments, is_variadic_array: false, executed: None }
    }
}

/// A function of a user that is executed where it is called, because its body is no expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed {
    /// The id in the catalog.
    pub id: u32,
    /// The name with the types of the arguments, as messages show it.
    pub signature: String,
    /// Whether its value may change within a statement, or it changes rows.
    pub is_volatile: bool,
    /// Whether it runs outside of the engine, for rows, and executes no statements.
    pub is_foreign: bool,
    /// The columns of a row of its result; none if that is a plain value.
    pub columns: Vec<Column>,
}

/// A conversion.
#[derive(Debug, Clone, PartialEq)]
pub struct Cast {
    /// The value.
    pub value: Box<Expr>,
    /// How it is converted.
    pub conversion: Conversion,
    /// Whether the statement asks for it. An explicit conversion to a length cuts, another refuses what is too long.
    pub is_explicit: bool,
}

/// How a value is converted to the type of the cast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Conversion {
    /// By a function.
    Function(Oid),
    /// Not at all: both types have the same representation.
    Relabel,
    /// By its text: the output of one type is the input of the other.
    Text,
    /// Item by item.
    Items,
    /// To the length or precision of the type.
    Length,
    /// From a row whose fields have the types of the attributes.
    Row,
}

/// IS TRUE and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthTest {
    /// IS TRUE.
    True,
    /// IS NOT TRUE.
    NotTrue,
    /// IS FALSE.
    False,
    /// IS NOT FALSE.
    NotFalse,
    /// IS UNKNOWN.
    Unknown,
    /// IS NOT UNKNOWN.
    NotUnknown,
}

/// `value operator ANY (array)`, `value operator ALL (array)`, `value IN (list)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantified {
    /// The operator, for the types of the value and the items.
    pub operator: Oid,
    /// ALL rather than ANY.
    pub is_all: bool,
    /// The value.
    pub value: Expr,
    /// The array; [`Kind::Array`] for a list.
    pub array: Expr,
}

/// A field of a row value.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldValue {
    /// The row.
    pub row: Expr,
    /// The position of the field, from 0.
    pub field: usize,
    /// Its name.
    pub name: String,
}

/// A subquery as a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Subquery {
    /// What becomes of its rows.
    pub kind: SubqueryKind,
    /// The query.
    pub query: Query,
}

/// What becomes of a subquery's rows.
#[derive(Debug, Clone, PartialEq)]
pub enum SubqueryKind {
    /// The single column of the single row; NULL for no row.
    Scalar,
    /// Whether there is a row.
    Exists,
    /// ARRAY(...).
    Array,
    /// `value operator ANY (query)` and IN: the comparison, with the query's columns as [`Kind::Output`].
    Any(Box<Expr>),
    /// `value operator ALL (query)`.
    All(Box<Expr>),
}

/// CURRENT_DATE and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueFunction {
    /// CURRENT_DATE.
    Date,
    /// CURRENT_TIME.
    Time,
    /// CURRENT_TIMESTAMP.
    Timestamp,
    /// LOCALTIME.
    LocalTime,
    /// LOCALTIMESTAMP.
    LocalTimestamp,
    /// CURRENT_USER, CURRENT_ROLE and USER.
    User,
    /// SESSION_USER.
    SessionUser,
    /// CURRENT_CATALOG.
    Catalog,
    /// CURRENT_SCHEMA.
    Schema,
}

/// A key of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// The value.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST, also as the default of DESC.
    pub nulls_first: bool,
}

/// An aggregate.
#[derive(Debug, Clone, PartialEq)]
pub struct AggregateCall {
    /// The function.
    pub function: Oid,
    /// The arguments, direct ones first. `count(*)` has none.
    pub arguments: Vec<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY of the call, or WITHIN GROUP.
    pub order_by: Vec<SortKey>,
    /// FILTER.
    pub filter: Option<Expr>,
    /// The number of direct arguments, those in front of WITHIN GROUP.
    pub direct_arguments: usize,
    /// The type of the result.
    pub sql_type: SqlType,
    /// What a user's aggregate does; `None` for one of the system.
    pub user: Option<Box<UserAggregate>>,
}

/// An aggregate that a user has defined: steps over places, which are [`Kind::Output`]. The first place is the state.
#[derive(Debug, Clone, PartialEq)]
pub struct UserAggregate {
    /// The name.
    pub name: String,
    /// The type of the state.
    pub state: SqlType,
    /// The first state.
    pub initial: Option<Expr>,
    /// The next state, from a state and the arguments of a row.
    pub transition: Expr,
    /// Whether rows with a NULL argument are skipped, and the first argument is the first state if there is none.
    pub is_strict: bool,
    /// One state from two.
    pub combine: Option<Expr>,
    /// Whether states that are NULL are not combined.
    pub is_combined_strictly: bool,
    /// The value, from the last state and the direct arguments, whose places are behind it.
    pub finish: Option<Expr>,
    /// Whether rows have the values behind WITHIN GROUP, and other arguments are direct ones.
    pub is_ordered_set: bool,
}

/// A function in FROM, or a set-returning one in a select list.
#[derive(Debug, Clone, PartialEq)]
pub struct SetCall {
    /// The call.
    pub call: Call,
    /// The columns that it makes.
    pub columns: Vec<Column>,
    /// Whether it returns a set, not one value.
    pub returns_set: bool,
    /// The composite type of its values, if the columns are the attributes.
    pub row: Option<Oid>,
}
