//! From PostgreSQL's parse tree to typed trees.
//!
//! A [`Binder`] works on one statement. It keeps a stack of [`scope::Scope`]s, one for each query level, and hands out the
//! numbers by which the tree's parts refer to each other.

mod aggregate;
mod array;
mod case;
mod chain;
mod change;
mod coerce;
mod column;
mod comparable;
mod compare;
mod composite;
mod constant;
mod domain;
mod expression;
mod from;
mod function;
mod group;
mod grouped_sets;
mod join;
mod locking;
mod long_union;
mod names;
mod operator;
mod order;
mod query;
mod routine;
mod row;
mod sample;
mod scope;
mod search;
mod select;
mod set_operation;
mod similar;
mod star;
mod subquery;
mod target;
pub(crate) mod type_name;
mod values;
mod variable;
mod window;
mod with;
mod written;

use crate::error::{Error, Result};
use crate::routine::{Routine, RoutineCall};
use crate::system::{Oid, SqlType};
use crate::tree::{Column, CteId, Expr, NamedChange, Query, RelationId, SelectId, Statement};
use grammar::tree::NodeEnum;
use routine::Expansion;
use scope::Scope;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

pub use crate::tree::walk::{children, children_mut, contains, whole_rows};
pub use change::{ChangedView, CheckOption, TargetRelation};
pub use grammar::column_name;
pub use routine::{check_aggregate, check_defaults, check_routine, is_executed};
pub use row::{RowExpression, bind_assigned, bind_row};
pub use star::Star;
pub use variable::ASSIGNED;

/// A relation of the catalog.
#[derive(Debug, Clone)]
pub struct Table {
    /// The number by which the tree refers to it.
    pub handle: u32,
    /// The schema; `None` for a relation of no schema, such as a file.
    pub schema: Option<String>,
    /// The name.
    pub name: String,
    /// Whether it is a view, which has no system columns.
    pub is_view: bool,
    /// The columns.
    pub columns: Vec<Column>,
    /// The positions of the primary key's columns; empty if there is none.
    pub key: Vec<usize>,
    /// The positions of columns that `*` does not show; the last ones, unless a statement changes the table.
    pub hidden: Vec<usize>,
    /// The expressions of DEFAULT, by the positions of their columns.
    pub defaults: HashMap<usize, String>,
    /// The positions of identity columns.
    pub identities: Vec<usize>,
    /// The number in the catalog of a relation whose rows are of a type of their own.
    pub rows_of: Option<u32>,
}

impl Table {
    /// The column of integers that tells its rows apart: the row id, or the only column of the primary key.
    fn address(&self) -> Option<(usize, SqlType)> {
        let at = match (self.hidden.as_slice(), self.key.as_slice()) {
            ([at], _) | ([], [at]) => *at,
            _ => return None,
        };
        let sql_type = self.columns.get(at)?.sql_type;
        matches!(sql_type.oid, Oid::INT2 | Oid::INT4 | Oid::INT8).then_some((at, sql_type))
    }

    /// What its rows are, if they are of a type of their own.
    fn rows(&self) -> Option<RowsOf> {
        let name = (self.schema.clone().unwrap_or_default(), self.name.clone());
        let columns = if self.is_view { self.columns.clone() } else { Vec::new() };
        Some(RowsOf { number: self.rows_of?, name, columns })
    }
}

/// A relation whose rows are of a type of their own.
#[derive(Debug, Clone)]
pub struct RowsOf {
    /// The number of the relation in the catalog.
    pub number: u32,
    /// The schema and the name.
    pub name: (String, String),
    /// The columns of a view.
    pub columns: Vec<Column>,
}

/// What the values of a domain fulfil, beyond being of its base type.
#[derive(Debug, Clone, Default)]
pub struct Domain {
    /// The name.
    pub name: String,
    /// Whether there is NULL.
    pub nullable: bool,
    /// The names and the texts of the conditions, in which VALUE is the value.
    pub checks: Vec<(String, String)>,
}

/// The relations that a statement can name.
pub trait Catalog {
    /// The relation of a name; without a schema, the first in the search path.
    ///
    /// # Errors
    /// The schema does not exist, or the relation may not be used.
    fn relation(&self, schema: Option<&str>, name: &str) -> Result<Option<Table>>;

    /// The type of users that a name means; without a schema, the first in the search path.
    fn user_type(&self, _: Option<&str>, _: &str) -> Option<Oid> {
        None
    }

    /// The type of the rows of a relation.
    fn row_type(&self, _: &RowsOf) -> Option<Oid> {
        None
    }

    /// The conditions of a domain.
    fn domain(&self, _: Oid) -> Option<Domain> {
        None
    }

    /// Whether there is a schema of this name.
    fn has_schema(&self, _: &str) -> bool {
        false
    }

    /// The functions of users with a name; without a schema, those in the search path, in its order.
    ///
    /// # Errors
    /// The schema may not be used.
    fn routines(&self, _schema: Option<&str>, _name: &str) -> Result<Vec<Arc<Routine>>> {
        Ok(Vec::new())
    }

    /// The variable of a procedural language that a name means: the number of its parameter, and its type.
    fn variable(&self, _qualifier: Option<&str>, _name: &str) -> Option<(u32, SqlType)> {
        None
    }

    /// The fields of a record of a procedural language, if that is what a name means: their names, the numbers of their
    /// parameters, and their types.
    fn record(&self, _name: &str) -> Vec<(String, u32, SqlType)> {
        Vec::new()
    }

    /// Whether columns hide variables of the same name.
    fn columns_hide(&self) -> bool {
        false
    }

    /// Whether variables hide columns of the same name.
    fn variables_hide(&self) -> bool {
        false
    }

    /// Checks that the user may call a function.
    ///
    /// # Errors
    /// 42501.
    fn may_call(&self, _: &Routine) -> Result<()> {
        Ok(())
    }

    /// The table that a statement changes, with all of its columns, or the view through which it does.
    ///
    /// # Errors
    /// As of [`relation`](Self::relation); the relation is neither.
    fn target(&self, schema: Option<&str>, name: &str) -> Result<Option<TargetRelation>>;

    /// The relations that the query of a view can name, by the number of the view; `None` if they are the same.
    fn of_view(&self, _number: u32) -> Option<&dyn Catalog> {
        None
    }
}

/// A bound statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The query.
    pub query: Query,
    /// The types of `$1`, `$2`, ...; `None` for one that the statement does not use.
    pub parameters: Vec<Option<SqlType>>,
    /// 42P08 for a parameter that has no type where it first stands, but gets one elsewhere. It is not to be prepared.
    pub undecided: Option<Error>,
    /// What each `*` in the select lists stands for.
    pub stars: Vec<Star>,
    /// The calls that are made before the query. Their values are its parameters behind `parameters`.
    pub calls: Vec<RoutineCall>,
}

/// Binds a query: SELECT, VALUES or a set operation. `parameters` are the types that the client declares, and
/// `calls_before` says whether some functions of users may be called before the query.
///
/// # Errors
/// What PostgreSQL refuses, and what [`Error::missing`] names.
pub fn bind(
    statement: &NodeEnum,
    catalog: &dyn Catalog,
    parameters: &[Option<SqlType>],
    calls_before: bool,
) -> Result<Bound> {
    let NodeEnum::SelectStmt(select) = statement else {
        return Err(Error::missing("this statement"));
    };
    let mut binder = Binder::new(catalog, parameters);
    binder.calls_before = calls_before;
    let mut query = binder.query(select)?;
    binder.settle_outputs(&mut query)?;
    binder.settle_calls(&mut query);
    let undecided = binder.undecided();
    let Binder { parameters, stars, calls, .. } = binder;
    Ok(Bound { query, parameters, undecided, stars, calls })
}

/// A bound statement that changes rows.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundStatement {
    /// The statement.
    pub statement: Statement,
    /// As of [`Bound`].
    pub parameters: Vec<Option<SqlType>>,
    /// As of [`Bound`].
    pub undecided: Option<Error>,
}

/// Binds an INSERT, UPDATE, DELETE or MERGE, or a query with such statements in WITH. `parameters` are the types that the client declares.
///
/// # Errors
/// What PostgreSQL refuses, and what [`Error::missing`] names.
pub fn bind_statement(
    statement: &NodeEnum,
    catalog: &dyn Catalog,
    parameters: &[Option<SqlType>],
) -> Result<BoundStatement> {
    let mut binder = Binder::new(catalog, parameters);
    binder.may_change = true;
    let statement = binder.statement(statement)?;
    let undecided = binder.undecided();
    Ok(BoundStatement { statement, parameters: binder.parameters, undecided })
}

/// Binds one statement.
pub(crate) struct Binder<'a> {
    catalog: &'a dyn Catalog,
    /// The types of the parameters, as far as they are known.
    parameters: Vec<Option<SqlType>>,
    /// The numbers and locations of parameters that had no type before their place gave them one.
    decided: HashSet<(u32, i32)>,
    /// Those that had no type.
    open: BTreeSet<(i32, u32)>,
    relations: u32,
    selects: u32,
    ctes: u32,
    /// The changes in WITH, each with the number of queries before it, and whether there may be any.
    changes: Vec<(usize, NamedChange)>,
    may_change: bool,
    /// The queries in WITH that the current one reads, and those that the finished ones read.
    reads: Vec<CteId>,
    reads_of: HashMap<CteId, Vec<CteId>>,
    /// The query levels, the innermost last.
    scopes: Vec<Scope>,
    /// The expressions around the one that is being bound.
    depth: usize,
    /// The level of each relation: its place in `scopes`.
    depth_of_relation: HashMap<RelationId, usize>,
    /// The columns of each relation.
    columns_of_relation: HashMap<RelationId, Vec<Column>>,
    /// The tables, and whether each is of the system.
    tables: HashMap<RelationId, bool>,
    /// The positions of the row ids of tables without a primary key, which only their own names find.
    row_ids: HashMap<RelationId, usize>,
    /// The columns that tell the rows of tables apart ([`Table::address`]).
    addresses: HashMap<RelationId, (usize, SqlType)>,
    /// The target of an INSERT whose RETURNING is bound, and the place of `xmax` if some rows may have been updated.
    written: Option<(RelationId, Option<usize>)>,
    /// The relations whose rows are of types of their own.
    rows_of: HashMap<RelationId, RowsOf>,
    /// The types of the rows of functions in FROM.
    row_types: HashMap<RelationId, Oid>,
    /// What each `*` stands for.
    stars: Vec<Star>,
    /// The values that VALUE stands for in conditions of domains, the innermost last.
    domain_values: Vec<crate::tree::Expr>,
    /// The name of the domain to whose base type a value is converted.
    outer_domain: Option<String>,
    /// The fields of columns that are rows.
    columns_of_record: HashMap<(RelationId, usize), Vec<Column>>,
    /// The functions of users whose bodies are being bound, the innermost last.
    expansions: Vec<Expansion>,
    /// The number of places for arguments in bodies.
    places: u32,
    /// The calls that are made before the query.
    calls: Vec<RoutineCall>,
    /// Whether there may be such calls.
    calls_before: bool,
    /// Whether SQL functions are executed, also those that could be expanded.
    executes_all: bool,
    /// The rows that functions return, with the names of their fields.
    named_rows: Vec<(Expr, Vec<Column>)>,
}

impl<'a> Binder<'a> {
    fn new(catalog: &'a dyn Catalog, parameters: &[Option<SqlType>]) -> Self {
        Self {
            catalog,
            parameters: parameters.to_vec(),
            decided: HashSet::new(),
            open: BTreeSet::new(),
            relations: 0,
            selects: 0,
            ctes: 0,
            changes: Vec::new(),
            may_change: false,
            reads: Vec::new(),
            reads_of: HashMap::new(),
            scopes: Vec::new(),
            depth: 0,
            depth_of_relation: HashMap::new(),
            columns_of_relation: HashMap::new(),
            tables: HashMap::new(),
            row_ids: HashMap::new(),
            addresses: HashMap::new(),
            written: None,
            rows_of: HashMap::new(),
            row_types: HashMap::new(),
            stars: Vec::new(),
            domain_values: Vec::new(),
            outer_domain: None,
            columns_of_record: HashMap::new(),
            expansions: Vec::new(),
            places: 0,
            calls: Vec::new(),
            calls_before: false,
            executes_all: false,
            named_rows: Vec::new(),
        }
    }

    fn next_relation(&mut self) -> RelationId {
        self.relations += 1;
        let id = RelationId(self.relations);
        self.depth_of_relation.insert(id, self.scopes.len().saturating_sub(1));
        id
    }

    /// Keeps what the rows of a relation are.
    fn note_rows_of(&mut self, id: RelationId, table: &Table) {
        self.rows_of.extend(table.rows().map(|rows| (id, rows)));
    }

    /// The type of the rows of a relation: `record` unless it has a name.
    fn row_type_of(&self, id: RelationId) -> Oid {
        let of_relation = || self.catalog.row_type(self.rows_of.get(&id)?);
        self.row_types.get(&id).copied().or_else(of_relation).unwrap_or(Oid::RECORD)
    }

    fn next_select(&mut self) -> SelectId {
        self.selects += 1;
        SelectId(self.selects)
    }

    fn next_cte(&mut self) -> CteId {
        self.ctes += 1;
        CteId(self.ctes)
    }
}

/// Where a node stands in the statement; -1 if the node does not say.
fn walk_location(node: &NodeEnum) -> i32 {
    match node {
        NodeEnum::ColumnRef(reference) => reference.location,
        NodeEnum::AConst(constant) => constant.location,
        _ => -1,
    }
}
