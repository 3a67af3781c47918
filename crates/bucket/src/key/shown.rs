//! Keys as text, for error messages, plans and system tables.

use super::{decode, entry_values, intervals};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type, IntervalMonthDayNanoType};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use catalog::{Column, ColumnId, Index, IndexColumn, IndexKey, Table};
use numerics::Numeric;
use sdds::{Bound, Key, KeyRange};
use std::fmt;

/// Number of keys or ranges that are shown. The others are counted.
const SHOWN_MAX: usize = 4;

/// Returns a key as `(a, b)=(1, x)`.
pub fn describe(table: &Table, key: &Key) -> String {
    let columns: Vec<_> = table.key_indices().into_iter().map(|c| &table.columns[c]).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    format!("({})=({})", names.join(", "), describe_values(table, key))
}

/// Returns an entry of an index by its key, as [`describe`] returns keys of a table.
pub fn describe_entry(index: &Index, table: &Table, key: &Key) -> String {
    let column = |id: &ColumnId| Some(&table.columns[table.position(*id)?]);
    let part = |part: &IndexColumn| match &part.key {
        IndexKey::Column(id) => column(id).map(|of| (of.name.clone(), Some(of))),
        IndexKey::Expression(expression) => Some((expression.as_key(), None)),
    };
    let parts: Vec<_> = index.columns.iter().filter_map(part).collect();
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    let columns: Vec<Option<&Column>> = parts.iter().map(|(_, column)| *column).collect();
    format!("({})=({})", names.join(", "), texts(&columns, &entry_values(index, table, key)))
}

/// Returns the column values of a bound, or an infinity.
pub fn describe_bound(table: &Table, bound: &Bound) -> String {
    match bound {
        Bound::At(key) => describe_values(table, key),
        infinity => infinity.to_string(),
    }
}

/// Returns some rows of a table as text, by their keys.
pub fn describe_rows<'a>(table: &Table, keys: impl ExactSizeIterator<Item = &'a Key>) -> String {
    let more = keys.len().saturating_sub(SHOWN_MAX);
    let shown: Vec<String> = keys.take(SHOWN_MAX).map(|key| describe(table, key)).collect();
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    format!("{}{more} of table \"{}\"", shown.join(", "), table.name)
}

/// Displays key ranges of a table: `[1, 5), 7`.
pub struct Stretches<'a> {
    /// The table.
    pub table: &'a Table,
    /// Ranges of its keys.
    pub ranges: &'a [KeyRange],
}

impl fmt::Display for Stretches<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = |bound: &Bound| match describe_bound(self.table, bound) {
            nothing if nothing.is_empty() => bound.to_string(),
            values => values,
        };
        for (index, range) in self.ranges.iter().take(SHOWN_MAX).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            match (&range.low, &range.high) {
                (Bound::At(low), Bound::At(high)) if low.successor() == *high => {
                    write!(f, "{comma}{}", bound(&range.low))?;
                }
                (low, high) => write!(f, "{comma}[{}, {})", bound(low), bound(high))?,
            }
        }
        match self.ranges.len().saturating_sub(SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, ", {more} more"),
        }
    }
}

fn describe_values(table: &Table, key: &Key) -> String {
    let columns: Vec<&Column> =
        table.key_indices().into_iter().map(|c| &table.columns[c]).collect();
    let types: Vec<DataType> = columns.iter().map(|column| column.sql_type.arrow()).collect();
    let columns: Vec<_> = columns.into_iter().map(Some).collect();
    texts(&columns, &decode(&types, key))
}

/// The label of a value of an enum.
fn label<'a>(column: &'a Column, value: &ArrayRef) -> Option<&'a str> {
    let numbers = value.as_primitive_opt::<Int64Type>()?;
    column.sql_type.user_type()?.label_of(numbers.value(0))
}

/// A number that has a scale of its own.
fn number(value: &ArrayRef) -> Option<Numeric> {
    Numeric::decode(value.as_binary_opt::<i64>()?.value(0)).ok()
}

/// The values as texts. A value of an expression has no column.
fn texts(columns: &[Option<&Column>], values: &[ArrayRef]) -> String {
    let texts = columns.iter().zip(values).map(|(column, value)| match value.is_null(0) {
        true => "null".to_owned(),
        false => text(*column, value),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// A value, or an item of an array, as text.
fn text(column: Option<&Column>, value: &ArrayRef) -> String {
    if let Some(label) = column.and_then(|column| label(column, value)) {
        return label.to_owned();
    }
    if let Some(number) = number(value) {
        return number.to_string();
    }
    if let Some(spans) = value.as_primitive_opt::<IntervalMonthDayNanoType>() {
        return intervals::text(spans.value(0));
    }
    if let Some(lists) = value.as_list_opt::<i32>() {
        let items = lists.value(0);
        let item = |at: usize| match items.is_null(at) {
            true => "NULL".to_owned(),
            false => quoted(text(column, &items.slice(at, 1))),
        };
        return format!("{{{}}}", (0..items.len()).map(item).collect::<Vec<_>>().join(","));
    }
    let options = FormatOptions::new();
    let formatter = ArrayFormatter::try_new(value, &options).ok();
    let text = formatter.and_then(|formatter| formatter.value(0).try_to_string().ok());
    text.unwrap_or_else(|| "?".to_owned())
}

/// An item as it stands in the text of an array.
fn quoted(item: String) -> String {
    let is_special = |c: char| c.is_ascii_whitespace() || matches!(c, '{' | '}' | '"' | ',' | '\\');
    if !item.is_empty() && !item.eq_ignore_ascii_case("null") && !item.contains(is_special) {
        return item;
    }
    format!("\"{}\"", item.replace('\\', r"\\").replace('"', r#"\""#))
}
