//! Defaults, generated columns, constraints and indexes whose expressions use a function or a sequence that is dropped.
//! Expressions are stored as text, so what they use is found on demand.

use super::dependents::needed;
use super::index;
use crate::context::Frame;
use analyzer::RowExpression;
use catalog_views::relation_names::find_named;
use parser::object_name;
use planner::Planner;
use renaming::may_call;
use std::collections::BTreeSet;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, Function, Index, Relation, RelationId, Sequence, Table,
};
use table_rows::expressions::functions_called;
use values::error::{Error, Result, SqlState};

/// What has an expression.
enum Use {
    Default(Arc<Table>, String),
    Generated(Arc<Table>, String),
    Check(Arc<Table>, String),
    Index(Arc<Index>),
}

impl std::fmt::Display for Use {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default(table, column) => {
                write!(f, "default value for column {column} of table {}", table.name)
            }
            Self::Generated(table, column) => write!(f, "column {column} of table {}", table.name),
            Self::Check(table, name) => write!(f, "constraint {name} on table {}", table.name),
            Self::Index(index) => write!(f, "index {}", index.file.name),
        }
    }
}

impl Use {
    /// The functions that its expression calls. `None` for an index, and for what cannot be bound.
    fn functions(&self, planner: &Planner<'_>) -> Option<BTreeSet<RelationId>> {
        let (table, expression) = match self {
            Self::Default(table, name) => {
                let (at, column) = table.column(name)?;
                (table, RowExpression::Default(column.default.as_deref()?, at))
            }
            Self::Generated(table, name) => {
                let (at, column) = table.column(name)?;
                (table, RowExpression::Generated(column.generated.as_deref()?, at))
            }
            Self::Check(table, name) => {
                let check = table.checks.iter().find(|check| check.name == *name)?;
                (table, RowExpression::Check(&check.expression))
            }
            Self::Index(_) => return None,
        };
        functions_called(planner, table, expression)
    }
}

/// With CASCADE, drops the defaults, constraints and indexes that call a function.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE. 0A000 for generated columns with CASCADE.
pub(super) fn drop_of_function(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    function: &Function,
    cascade: bool,
) -> Result<()> {
    let path = frame.path();
    let calls = |expression: &str| may_call(path, &format!("SELECT {expression}"), function);
    let shown = format!("{} {}", function.kind(), routines::signature(function));
    let mut uses = uses(transaction.catalog(), calls);
    let planner = frame.planner(transaction);
    uses.retain(|of| match of.functions(&planner) {
        Some(called) => called.contains(&function.id),
        None => true,
    });
    drop_all(frame, transaction, uses, &shown, cascade)
}

/// With CASCADE, drops the defaults that take their values from a sequence, but for those of tables that go with it.
///
/// # Errors
/// 2BP01 if there are some, without CASCADE.
pub(super) fn drop_of_sequence(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    sequence: &Sequence,
    cascade: bool,
    goes: &dyn Fn(&Table) -> bool,
) -> Result<()> {
    let mut uses = of_sequence(frame, transaction.catalog(), sequence);
    uses.retain(|of| !matches!(of, Use::Default(table, _) if goes(table)));
    drop_all(frame, transaction, uses, &format!("sequence {}", sequence.name), cascade)
}

/// The expressions that take values from a sequence.
fn of_sequence(frame: &Frame<'_>, catalog: &Catalog, sequence: &Sequence) -> Vec<Use> {
    let is_read = |expression: &str| {
        grammar::sequences(expression).iter().any(|name| {
            let name = object_name(name).ok();
            let found = name.and_then(|name| find_named(catalog, frame.path(), &name).ok()?);
            found.is_some_and(|found| found.id() == sequence.id)
        })
    };
    uses(catalog, is_read)
}

/// Everything in the catalog with an expression that is wanted.
fn uses(catalog: &Catalog, is_wanted: impl Fn(&str) -> bool) -> Vec<Use> {
    let mut found = Vec::new();
    for relation in catalog.relations() {
        match relation {
            Relation::Table(table) => {
                for column in &table.columns {
                    if column.default.as_deref().is_some_and(&is_wanted) {
                        found.push(Use::Default(Arc::clone(table), column.name.clone()));
                    }
                    if column.generated.as_deref().is_some_and(&is_wanted) {
                        found.push(Use::Generated(Arc::clone(table), column.name.clone()));
                    }
                }
                for check in table.checks.iter().filter(|check| is_wanted(&check.expression)) {
                    found.push(Use::Check(Arc::clone(table), check.name.clone()));
                }
            }
            Relation::Index(index) => {
                if index.expressions().any(|expression| is_wanted(&expression.text)) {
                    found.push(Use::Index(Arc::clone(index)));
                }
            }
            Relation::View(_) | Relation::Sequence(_) => {}
        }
    }
    found
}

fn drop_all(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    uses: Vec<Use>,
    shown: &str,
    cascade: bool,
) -> Result<()> {
    if !cascade && !uses.is_empty() {
        let each: Vec<String> = uses.iter().map(|of| format!("{of} depends on {shown}")).collect();
        return Err(needed(shown, each.join("\n")));
    }
    for of in uses {
        let message = format!("drop cascades to {of}");
        match of {
            Use::Default(table, name) => change(transaction, &table, |table| {
                let column = table.columns.iter_mut().find(|column| column.name == name);
                column.into_iter().for_each(|column| column.default = None);
            })?,
            Use::Check(table, name) => change(transaction, &table, |table| {
                table.checks.retain(|check| check.name != name);
            })?,
            Use::Index(of) => index::drop_with_dependents(frame, transaction, &of, true)?,
            Use::Generated(..) => {
                let what = format!("dropping the generated {of} with CASCADE");
                return Err(Error::unsupported(format!("{what} is not supported"))
                    .with_hint("Drop the column first."));
            }
        }
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
    Ok(())
}

/// Changes a table, if it is still there.
fn change(
    transaction: &mut DistributedTransaction,
    table: &Table,
    edit: impl FnOnce(&mut Table),
) -> Result<()> {
    let Some(table) = transaction.catalog().table_by_id(table.id) else { return Ok(()) };
    let mut next = Table::clone(table);
    edit(&mut next);
    next.version += 1;
    transaction.change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(next))))?;
    Ok(())
}
