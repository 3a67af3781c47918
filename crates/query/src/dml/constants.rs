//! The rows of VALUES whose cells are constants, without the planner.
//!
//! Planning, optimizing and executing ten thousand rows of constants takes several times as long as parsing and storing
//! them. Here a constant becomes a value of its column in one step, with the same types as in a plan. Everything else is
//! left to the planner: expressions, constants of a type that differs from their column's, and lists that are an error.

use super::{declared_column, name_of};
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use catalog_views::relation_names::find_named;
use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, StringViewArray};
use datafusion::arrow::record_batch::RecordBatch;
use grammar::numbers::without_negative_zero;
use grammar::tree::a_const::Val;
use grammar::tree::{InsertStmt, Node, NodeEnum, OverridingKind, SelectStmt};
use scan::BATCH_ROWS;
use std::borrow::Cow;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, Privileges, Relation, SqlType, Table};
use table_rows::Assembly;
use table_rows::default_values::accepts_default_only;
use values::error::Result;
use values::input::is_of_transaction;

/// Digits that every number of a plan can have.
const DIGITS_MAX: usize = 38;

/// A constant.
enum Cell<'a> {
    Null,
    Text(&'a str),
    Boolean(bool),
    Integer(i32),
    /// The text of a number without an exponent.
    Number(&'a str),
}

/// An INSERT of constants.
pub(super) struct Constants {
    table: Arc<Table>,
    /// The columns that get values.
    columns: Vec<usize>,
    /// The values, as input of an assignment.
    pub(super) rows: RecordBatch,
    /// Whether it has ON CONFLICT or RETURNING.
    has_clauses: bool,
}

impl Constants {
    /// Whether it does nothing but insert: it has no clauses, and its table no triggers.
    pub(super) fn is_plain(&self, catalog: &Catalog) -> bool {
        !self.has_clauses && catalog.triggers_of(self.table.id).is_empty()
    }

    /// Runs the INSERT, which has no clauses. Gives back the rows if functions see what has been inserted.
    ///
    /// # Errors
    /// Those of the values, of constraints and of the transaction.
    pub(super) async fn insert(
        self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
    ) -> Result<Result<Outcome, RecordBatch>> {
        let Self { table, columns, rows, .. } = self;
        let planner = frame.planner(transaction);
        let assembly = Assembly::new(&planner, &frame.session.shared.store, &table, &columns)?;
        drop(planner);
        if frame.site.needs_driver() {
            return Ok(Err(rows));
        }
        let count = rows.num_rows();
        for begin in (0..count).step_by(BATCH_ROWS) {
            let batch = assembly.assemble(&rows.slice(begin, BATCH_ROWS.min(count - begin)))?;
            transaction.insert(table.id, &batch).await?;
        }
        Ok(Ok(Outcome::Done(Tag::counted("INSERT", count as u64))))
    }
}

/// The constants of an INSERT. `None` if the planner is needed, also for an error.
pub(super) fn of(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    statement: &NodeEnum,
) -> Option<Constants> {
    let NodeEnum::InsertStmt(insert) = statement else { return None };
    let rows = rows_of(insert)?;
    let catalog = transaction.catalog();
    let name = name_of(insert.relation.as_ref()?);
    let relation = find_named(catalog, frame.path(), &name).ok()??;
    frame.access(catalog).require(relation, Privileges::INSERT).ok()?;
    let Relation::Table(table) = relation else { return None };
    if table.materialized.is_some() {
        return None;
    }
    let mut columns = columns(table, &insert.cols)?;
    let rows = batch(rows, insert.cols.is_empty(), table, &columns)?;
    columns.truncate(rows.num_columns());
    let refuses = |column: &usize| accepts_default_only(&table.columns[*column]);
    if columns.iter().any(refuses) {
        return None;
    }
    let has_clauses = insert.on_conflict_clause.is_some() || insert.returning_clause.is_some();
    Some(Constants { table: Arc::clone(table), columns, rows, has_clauses })
}

/// The rows of an INSERT of nothing but VALUES.
pub(crate) fn rows_of(insert: &InsertStmt) -> Option<&[Node]> {
    let source = insert.select_stmt.as_ref()?.node.as_ref()?;
    let NodeEnum::SelectStmt(values) = source else { return None };
    let is_plain = insert.with_clause.is_none()
        && matches!(
            insert.r#override(),
            OverridingKind::OverridingNotSet | OverridingKind::Undefined
        )
        && has_rows_only(values);
    is_plain.then_some(&values.values_lists[..])
}

fn has_rows_only(values: &SelectStmt) -> bool {
    !values.values_lists.is_empty()
        && values.with_clause.is_none()
        && values.sort_clause.is_empty()
        && values.limit_count.is_none()
        && values.limit_offset.is_none()
        && values.locking_clause.is_empty()
}

/// The values of a row.
pub(crate) fn values_of(row: &Node) -> &[Node] {
    match &row.node {
        Some(NodeEnum::List(values)) => &values.items,
        _ => &[],
    }
}

/// The name of a target column.
pub(crate) fn column_of(target: &Node) -> Option<&str> {
    match &target.node {
        Some(NodeEnum::ResTarget(target)) if target.indirection.is_empty() => Some(&target.name),
        _ => None,
    }
}

/// The target columns of an INSERT, in the order of the values.
pub(crate) fn columns(table: &Table, named: &[Node]) -> Option<Vec<usize>> {
    if named.is_empty() {
        return Some((0..table.columns.len()).filter(|i| !table.columns[*i].hidden).collect());
    }
    let mut columns = Vec::with_capacity(named.len());
    for name in named {
        let column = declared_column(table, column_of(name)?).ok()?;
        if columns.contains(&column) {
            return None;
        }
        columns.push(column);
    }
    Some(columns)
}

/// Rows for these columns of a table, as input of an assignment; `None` if the planner is needed. Without names of columns
/// the last may be missing.
fn batch(rows: &[Node], may_lack: bool, table: &Table, columns: &[usize]) -> Option<RecordBatch> {
    let width = values_of(rows.first()?).len();
    let is_wide_enough = width == columns.len() || may_lack;
    if width == 0 || width > columns.len() || !is_wide_enough {
        return None;
    }
    if rows.iter().any(|row| values_of(row).len() != width) {
        return None;
    }
    let arrays = columns[..width].iter().enumerate().map(|(index, column)| {
        let cells = rows.iter().map(|row| cell(&values_of(row)[index]));
        let array = array(&cells.collect::<Option<Vec<_>>>()?, &table.columns[*column].sql_type)?;
        Some((format!("column{}", index + 1), array, true))
    });
    RecordBatch::try_from_iter_with_nullable(arrays.collect::<Option<Vec<_>>>()?).ok()
}

fn cell(value: &Node) -> Option<Cell<'_>> {
    let Some(NodeEnum::AConst(constant)) = &value.node else { return None };
    if constant.isnull {
        return Some(Cell::Null);
    }
    match constant.val.as_ref()? {
        Val::Boolval(value) => Some(Cell::Boolean(value.boolval)),
        Val::Sval(text) if is_of_transaction(&text.sval) => None,
        Val::Sval(text) => Some(Cell::Text(&text.sval)),
        Val::Ival(number) => Some(Cell::Integer(number.ival)),
        Val::Fval(number) => number_of(&number.fval).map(Cell::Number),
        Val::Bsval(_) => None,
    }
}

/// The text of a number that is written without an exponent.
fn number_of(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_plain && digits.len() <= DIGITS_MAX).then(|| without_negative_zero(text))
}

/// The cells of a column; `None` if they are not of its kind.
fn array(cells: &[Cell<'_>], to: &SqlType) -> Option<ArrayRef> {
    if cells.iter().all(|cell| matches!(cell, Cell::Null | Cell::Text(_))) {
        let texts = cells.iter().map(|cell| match cell {
            Cell::Text(text) => Some(*text),
            _ => None,
        });
        return Some(Arc::new(texts.collect::<StringViewArray>()));
    }
    match to {
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => integers(cells),
        SqlType::Numeric { .. } | SqlType::Real | SqlType::Double => numbers(cells),
        SqlType::Boolean => booleans(cells),
        _ => None,
    }
}

fn integers(cells: &[Cell<'_>]) -> Option<ArrayRef> {
    let values = cells.iter().map(|cell| match cell {
        Cell::Null => Some(None),
        Cell::Integer(number) => Some(Some(i64::from(*number))),
        Cell::Number(digits) => digits.parse().ok().map(Some),
        _ => None,
    });
    let values: Vec<Option<i64>> = values.collect::<Option<_>>()?;
    // An integer constant is an `integer` if it fits.
    let narrow = values.iter().map(|value| value.map(i32::try_from).transpose());
    Some(match narrow.collect::<Result<Int32Array, _>>() {
        Ok(narrow) => Arc::new(narrow),
        Err(_) => Arc::new(Int64Array::from(values)),
    })
}

/// Numbers as texts: their column's type reads them as it reads a quoted constant.
fn numbers(cells: &[Cell<'_>]) -> Option<ArrayRef> {
    let texts = cells.iter().map(|cell| match cell {
        Cell::Null => Some(None),
        Cell::Integer(number) => Some(Some(Cow::Owned(number.to_string()))),
        Cell::Number(digits) => Some(Some(Cow::Borrowed(*digits))),
        _ => None,
    });
    Some(Arc::new(texts.collect::<Option<StringViewArray>>()?))
}

fn booleans(cells: &[Cell<'_>]) -> Option<ArrayRef> {
    let values = cells.iter().map(|cell| match cell {
        Cell::Null => Some(None),
        Cell::Boolean(value) => Some(Some(*value)),
        _ => None,
    });
    Some(Arc::new(values.collect::<Option<BooleanArray>>()?))
}
