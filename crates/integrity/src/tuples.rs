//! Values of several columns, row by row.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, StringViewArray, UInt32Array, new_null_array,
};
use datafusion::arrow::compute::kernels::cmp::not_distinct;
use datafusion::arrow::compute::{CastOptions, cast_with_options, take};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use scan::number_keys::comparable;
use sdds::Key;
use std::collections::HashSet;
use std::sync::Arc;
use store::catalog::{Catalog, ForeignKey, SqlType, Table};
use store::key::encode_columns;
use values::assign::converted as value_as;
use values::error::Result;
use values::numbers;

/// The number of rows.
pub(crate) fn len(columns: &[ArrayRef]) -> usize {
    columns.first().map_or(0, |column| column.len())
}

/// The rows at some positions.
pub(crate) fn picked(columns: &[ArrayRef], rows: &[usize]) -> Result<Vec<ArrayRef>> {
    let rows: UInt32Array = rows.iter().map(|row| Some(*row as u32)).collect();
    Ok(columns.iter().map(|column| take(column, &rows, None)).collect::<Result<_, _>>()?)
}

/// The numbers of NULLs in the columns of a row.
pub(crate) fn nulls(columns: &[ArrayRef], row: usize) -> usize {
    columns.iter().filter(|column| column.is_null(row)).count()
}

/// The rows in which two lists of columns differ.
pub(crate) fn different(old: &[ArrayRef], new: &[ArrayRef]) -> Result<Vec<usize>> {
    let mut same = vec![true; len(new)];
    for (old, new) in old.iter().zip(new) {
        let (old, new) = (comparable(old)?, comparable(new)?);
        let equal: BooleanArray = not_distinct(&old, &new)?;
        for (row, same) in same.iter_mut().enumerate() {
            *same &= equal.value(row);
        }
    }
    Ok(same.iter().enumerate().filter(|(_, same)| !**same).map(|(row, _)| row).collect())
}

/// The first of all rows with the same values. No value is NULL.
pub(crate) fn distinct(columns: &[ArrayRef]) -> Result<Vec<usize>> {
    let keys = keys(columns)?;
    let mut seen: HashSet<&Key> = HashSet::with_capacity(keys.len());
    Ok((0..keys.len()).filter(|row| seen.insert(&keys[*row])).collect())
}

/// The values of each row as one key.
pub(crate) fn keys(columns: &[ArrayRef]) -> Result<Vec<Key>> {
    Ok(encode_columns(columns).map_err(store::Error::from)?)
}

/// Some rows, each value once; `None` if there are none.
pub(crate) fn of_rows(columns: &[ArrayRef], rows: &[usize]) -> Result<Option<Vec<ArrayRef>>> {
    if rows.is_empty() {
        return Ok(None);
    }
    let values = picked(columns, rows)?;
    let distinct = distinct(&values)?;
    picked(&values, &distinct).map(Some)
}

/// The types of columns of a table.
pub(crate) fn types(table: &Table, columns: &[usize]) -> Vec<DataType> {
    columns.iter().map(|at| table.columns[*at].sql_type.arrow()).collect()
}

/// Which columns of a foreign key are compared without the blanks at their end: texts that refer to `char(n)`.
pub(crate) fn ignoring_blanks(catalog: &Catalog, table: &Table, key: &ForeignKey) -> Vec<bool> {
    let Some(referenced) = catalog.table_by_id(key.references) else { return Vec::new() };
    let is_char = |table: &Table, at: usize| {
        matches!(table.columns[at].sql_type.representation(), SqlType::Char(_))
    };
    let places = key.positions(table).into_iter().zip(key.referenced_positions(referenced));
    places.map(|(own, at)| is_char(referenced, at) && !is_char(table, own)).collect()
}

/// Values without the blanks at the end in some columns. `char(n)` is held without them.
pub(crate) fn trimmed(columns: &[ArrayRef], ignoring: &[bool]) -> Vec<ArrayRef> {
    let ignoring = ignoring.iter().chain(std::iter::repeat(&false));
    let trimmed = |(column, ignores): (&ArrayRef, &bool)| match column.as_string_view_opt() {
        Some(texts) if *ignores => {
            let texts = texts.iter().map(|text| text.map(|text| text.trim_end_matches(' ')));
            Arc::new(texts.collect::<StringViewArray>())
        }
        _ => Arc::clone(column),
    };
    columns.iter().zip(ignoring).map(trimmed).collect()
}

/// Values in other types, without those that the types do not have; and their rows.
pub(crate) fn converted(
    columns: &[ArrayRef],
    types: &[DataType],
) -> Result<(Vec<ArrayRef>, Vec<usize>)> {
    let mut has_all = vec![true; len(columns)];
    let mut converted = Vec::with_capacity(columns.len());
    let options = CastOptions { safe: true, ..CastOptions::default() };
    for (column, to) in columns.iter().zip(types) {
        if column.data_type() == to {
            converted.push(ArrayRef::clone(column));
            continue;
        }
        if numbers::holds_open(column.data_type()) || numbers::holds_open(to) {
            converted.push(numbers_as(column, to, &mut has_all)?);
            continue;
        }
        let there = cast_with_options(column, to, &options)
            .unwrap_or_else(|_| new_null_array(to, column.len()));
        let back = cast_with_options(&there, column.data_type(), &options)?;
        let equal = not_distinct(&back, column)?;
        for (row, has_all) in has_all.iter_mut().enumerate() {
            *has_all &= equal.value(row);
        }
        converted.push(there);
    }
    let rows: Vec<usize> = (0..has_all.len()).filter(|row| has_all[*row]).collect();
    match rows.len() == has_all.len() {
        true => Ok((converted, rows)),
        false => Ok((picked(&converted, &rows)?, rows)),
    }
}

/// Numbers in another type of numbers, without those that it does not have.
fn numbers_as(column: &ArrayRef, to: &DataType, has_all: &mut [bool]) -> Result<ArrayRef> {
    let mut values = Vec::with_capacity(column.len());
    for (row, has_all) in has_all.iter_mut().enumerate() {
        let value = ScalarValue::try_from_array(column, row)?;
        let there = value_as(&value, to).ok();
        let back = there.as_ref().and_then(|there| value_as(there, column.data_type()).ok());
        let is_same = match back {
            Some(back) => {
                let (back, value) = (back.to_array()?, value.to_array()?);
                not_distinct(&comparable(&back)?, &comparable(&value)?)?.value(0)
            }
            None => false,
        };
        *has_all &= is_same;
        values.push(match there.filter(|_| is_same) {
            Some(there) => there,
            None => ScalarValue::try_from(to)?,
        });
    }
    Ok(ScalarValue::iter_to_array(values)?)
}
