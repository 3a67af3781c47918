//! The rows of VALUES whose cells are constants, as values of their columns.

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, Int64Array, StringViewArray};
use datafusion::arrow::record_batch::RecordBatch;
use grammar::numbers::without_negative_zero;
use grammar::tree::a_const::Val;
use grammar::tree::{Node, NodeEnum};
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::{SqlType, SystemType, Table};
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

/// The values of a row.
pub fn values_of(row: &Node) -> &[Node] {
    match &row.node {
        Some(NodeEnum::List(values)) => &values.items,
        _ => &[],
    }
}

/// Rows for these columns of a table, as input of an assignment; `None` if the planner is needed. Without names of columns
/// the last may be missing.
pub fn batch(
    rows: &[Node],
    may_lack: bool,
    table: &Table,
    columns: &[usize],
) -> Option<RecordBatch> {
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
    if to.system_type().is_some_and(SystemType::is_named_id) {
        // The catalog knows the names of objects.
        return None;
    }
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
