//! The rows of VALUES whose cells are constants, without the planner.
//!
//! Planning, optimizing and executing ten thousand rows of constants takes several times as long as parsing and storing
//! them. Here a constant becomes a value of its column in one step, with the same types as in a plan. Everything else is
//! left to the planner: expressions, constants of a type that differs from their column's, and lists that are an error.

use super::assembly::Assembly;
use super::declared_column;
use super::default_values::accepts_default_only;
use crate::context::Frame;
use crate::context::outcome::{Outcome, Tag};
use catalog_views::relation_names::find;
use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, StringViewArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::sql::sqlparser::ast::{
    Expr, Insert, ObjectName, Query, SetExpr, TableObject, UnaryOperator, Value, ValueWithSpan,
};
use parser::names::fold;
use scan::BATCH_ROWS;
use std::borrow::Cow;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Privileges, Relation, SqlType, Table};
use values::error::Result;

/// Digits that every number of a plan can have.
const DIGITS_MAX: usize = 38;

/// A constant.
enum Cell<'a> {
    Null,
    Text(&'a str),
    Boolean(bool),
    /// The text of a number without an exponent.
    Number(Cow<'a, str>),
}

/// An INSERT of constants.
pub(super) struct Constants {
    table: Arc<Table>,
    /// The columns that get values.
    columns: Vec<usize>,
    /// The values, as input of an assignment.
    pub(super) rows: RecordBatch,
    /// Whether it has ON CONFLICT or RETURNING.
    pub(super) has_clauses: bool,
}

impl Constants {
    /// Runs the INSERT, which has no clauses.
    ///
    /// # Errors
    /// Those of the values, of constraints and of the transaction.
    pub(super) async fn insert(
        self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
    ) -> Result<Outcome> {
        let Self { table, columns, rows, .. } = self;
        let planner = frame.planner(transaction);
        let assembly = Assembly::new(&planner, &frame.session.shared.store, &table, &columns)?;
        drop(planner);
        let count = rows.num_rows();
        for begin in (0..count).step_by(BATCH_ROWS) {
            let batch = assembly.assemble(&rows.slice(begin, BATCH_ROWS.min(count - begin)))?;
            transaction.insert(table.id, &batch).await?;
        }
        Ok(Outcome::Done(Tag::counted("INSERT", count as u64)))
    }
}

/// The constants of an INSERT. `None` if the planner is needed, also for an error.
pub(super) fn of(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    insert: &Insert,
) -> Option<Constants> {
    let TableObject::TableName(name) = &insert.table else { return None };
    let source = plain(insert.source.as_deref()?)?;
    if !matches!(&*source.body, SetExpr::Values(_)) {
        return None;
    }
    let catalog = transaction.catalog();
    let relation = find(catalog, frame.path(), name).ok()??;
    frame.access(catalog).require(relation, Privileges::INSERT).ok()?;
    let Relation::Table(table) = relation else { return None };
    let mut columns = columns(table, &insert.columns)?;
    let rows = rows(insert, table, &columns)?;
    columns.truncate(rows.num_columns());
    let refuses = |column: &usize| accepts_default_only(&table.columns[*column]);
    if columns.iter().any(refuses) {
        return None;
    }
    let has_clauses = insert.on.is_some() || insert.returning.is_some();
    Some(Constants { table: Arc::clone(table), columns, rows, has_clauses })
}

/// The target columns, in the order of the values.
fn columns(table: &Table, named: &[ObjectName]) -> Option<Vec<usize>> {
    if named.is_empty() {
        return Some((0..table.columns.len()).filter(|i| !table.columns[*i].hidden).collect());
    }
    let mut columns = Vec::with_capacity(named.len());
    for name in named {
        let [part] = &name.0[..] else { return None };
        let column = declared_column(table, &fold(part.as_ident()?)).ok()?;
        if columns.contains(&column) {
            return None;
        }
        columns.push(column);
    }
    Some(columns)
}

/// The rows of an INSERT into these columns of a table, as input of an assignment; `None` if the planner is needed.
fn rows(insert: &Insert, table: &Table, columns: &[usize]) -> Option<RecordBatch> {
    let SetExpr::Values(values) = &*plain(insert.source.as_deref()?)?.body else { return None };
    let width = values.rows.first()?.content.len();
    let is_wide_enough = width == columns.len() || insert.columns.is_empty();
    if width == 0 || width > columns.len() || !is_wide_enough {
        return None;
    }
    if values.rows.iter().any(|row| row.content.len() != width) {
        return None;
    }
    let arrays = columns[..width].iter().enumerate().map(|(index, column)| {
        let cells = values.rows.iter().map(|row| cell(&row.content[index]));
        let array = array(&cells.collect::<Option<Vec<_>>>()?, &table.columns[*column].sql_type)?;
        Some((format!("column{}", index + 1), array))
    });
    RecordBatch::try_from_iter_with_nullable(
        arrays
            .map(|array| array.map(|(name, array)| (name, array, true)))
            .collect::<Option<Vec<_>>>()?,
    )
    .ok()
}

/// The query, if it has nothing but a body.
fn plain(query: &Query) -> Option<&Query> {
    let Query {
        with: None,
        body: _,
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks,
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators,
    } = query
    else {
        return None;
    };
    (locks.is_empty() && pipe_operators.is_empty()).then_some(query)
}

fn cell(expr: &Expr) -> Option<Cell<'_>> {
    match expr {
        Expr::Value(ValueWithSpan { value, .. }) => match value {
            Value::Null => Some(Cell::Null),
            Value::Boolean(value) => Some(Cell::Boolean(*value)),
            Value::SingleQuotedString(text) => Some(Cell::Text(text)),
            _ => number(value).map(|digits| Cell::Number(Cow::Borrowed(digits))),
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match &**expr {
            Expr::Value(value) => {
                let digits = number(&value.value)?;
                Some(Cell::Number(Cow::Owned(format!("-{digits}"))))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The digits of a number that is written without an exponent.
fn number(value: &Value) -> Option<&str> {
    let Value::Number(text, false) = value else { return None };
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_plain && text.len() <= DIGITS_MAX).then_some(text)
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
        Cell::Number(digits) => Some(Some(&**digits)),
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
