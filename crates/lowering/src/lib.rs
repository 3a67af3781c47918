//! From typed trees to the engine's logical plans.
//!
//! [`lower`] makes a plan of a query of [`analyzer::tree`]. The tree has all names resolved and all conversions written
//! out; the plan has the Arrow types that represent the tree's types, so that the engine converts nothing by rules of its
//! own. The functions and operators that have PostgreSQL's meaning are listed in tables (`functions`, `aggregates`);
//! what is not listed is refused as missing.

mod aggregates;
mod ctes;
mod distinct;
mod expressions;
mod folding;
pub mod foreign;
mod from;
mod functions;
mod grouping;
mod literals;
mod long;
mod names;
mod numbers;
mod order;
mod populate;
mod query;
mod readable;
mod record_fields;
mod refusal;
mod result;
mod rows;
mod scope;
mod select;
mod set_operations;
mod sets;
mod together;
mod typed;
mod types;
mod unread;
mod user_functions;
mod values_body;
mod windows;

pub use optimizer::callable;
pub use refusal::{Refusal, Result};
pub use rows::{Rows, lower_output, lower_over};
pub use user_functions::{Shape, UserFunctions};

use analyzer::tree::read::Read;
use analyzer::tree::{CteId, Query, unread_subqueries};
use datafusion::common::{ScalarValue, TableReference};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use executor::kept::KeptQueries;
use std::sync::Arc;
use store::catalog::Catalog;
use values::field::Field;

/// What a statement's tree refers to.
pub struct Surroundings<'a> {
    /// The engine's session state: its configuration and the properties of this execution.
    pub engine: &'a SessionState,
    /// The functions by name.
    pub functions: &'a catalog_views::functions::Functions<'a>,
    /// The functions of users that are executed; `None` where none can be called.
    pub user_functions: Option<&'a dyn UserFunctions>,
    /// The tables, by the handles in the tree.
    pub sources: &'a [SourceTable],
    /// The catalog that has the functions of users; `None` where they cannot be called.
    pub catalog: Option<&'a Catalog>,
    /// The rows that changes in WITH have returned. Columns are in the order of the tree.
    pub returned: &'a [(CteId, Arc<dyn TableSource>)],
    /// The rows of queries in WITH that are computed once, also for several trees of a statement.
    pub kept: &'a KeptQueries,
    /// The values of `$1`, `$2`, ...; empty while the statement is only described.
    pub parameters: &'a [ScalarValue],
    /// Whether constants that have no value, such as 1/0, are errors, as they are when PostgreSQL plans a statement to execute
    /// it.
    pub folds: bool,
    /// Whether the query is a view's, of which a statement may read some columns only.
    pub is_of_view: bool,
    /// The text of the statement, in which errors have positions.
    pub text: &'a str,
}

/// A table that a tree refers to.
pub struct SourceTable {
    /// The name of its scans in plans.
    pub name: TableReference,
    /// Its rows. Columns are in the order of the tree.
    pub source: Arc<dyn TableSource>,
    /// Its object id, for the origins of result columns; `None` if they have none.
    pub oid: Option<u32>,
    /// So many columns at the end are no fields of its rows as values.
    pub hidden: usize,
}

/// The plan of a query, and the description of its columns.
///
/// # Errors
/// [`Refusal::Missing`] for what cannot be planned yet, [`Refusal::Error`] for errors of the statement.
pub fn lower(query: &Query, surroundings: &Surroundings<'_>) -> Result<(LogicalPlan, Vec<Field>)> {
    let reads_views = surroundings.sources.iter().any(|of| of.source.get_logical_plan().is_some());
    let read = (reads_views || unread_subqueries::may_be_in(query)).then(|| Read::of(query));
    let without_unread = read.as_ref().and_then(|read| unread_subqueries::without(query, read));
    let mut lowering = scope::Lowering::new(surroundings);
    lowering.read = read.map(Read::into_columns);
    let query = without_unread.as_ref().unwrap_or(query);
    lowering.whole_rows = analyzer::whole_rows(query);
    let plan = match surroundings.is_of_view {
        true => lowering.readable(query)?.0,
        false => lowering.query(query)?,
    };
    lowering.refuse_constants()?;
    result::described(&lowering, query, plan)
}
