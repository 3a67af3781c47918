//! Building a system table row by row: a row names the columns that it knows, the shape knows the rest.

use super::shape::{Form, Shape, ShapeColumn};
use crate::error::Result;
use datafusion::arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array, ListBuilder, PrimitiveBuilder, RecordBatch, RecordBatchOptions, StringViewArray,
    StringViewBuilder, TimestampMicrosecondArray, new_null_array,
};
use datafusion::arrow::datatypes::{Int16Type, Int32Type, Int64Type};
use std::sync::Arc;

/// One value of a system table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Null,
    Flag(bool),
    Number(i64),
    Double(f64),
    Text(String),
    Numbers(Vec<i64>),
    Texts(Vec<Option<String>>),
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<i64>> for Cell {
    fn from(value: Vec<i64>) -> Self {
        Self::Numbers(value)
    }
}

impl From<Vec<String>> for Cell {
    fn from(value: Vec<String>) -> Self {
        Self::Texts(value.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<String>>> for Cell {
    fn from(value: Vec<Option<String>>) -> Self {
        Self::Texts(value)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Cell {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Flag(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    fn double(&self) -> Option<f64> {
        match self {
            Self::Double(value) => Some(*value),
            other => other.number().map(|value| value as f64),
        }
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Text(value) => Some(value.clone()),
            Self::Number(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// What a column holds that may not be NULL and that nobody gave a value for.
    fn nothing(form: Form) -> Self {
        match form {
            Form::Flag => Self::Flag(false),
            Form::Small | Form::Integer | Form::Number | Form::Real | Form::Double => {
                Self::Number(0)
            }
            Form::Text => Self::Text(String::new()),
            Form::Moment | Form::Interval => Self::Null,
            Form::Smalls | Form::Integers | Form::Numbers => Self::Numbers(Vec::new()),
            Form::Texts => Self::Texts(Vec::new()),
        }
    }

    fn parse(text: &str, form: Form) -> Self {
        match form {
            _ if text == "\\N" => Self::Null,
            Form::Flag => Self::Flag(text == "t"),
            Form::Small | Form::Integer | Form::Number => {
                text.parse().map_or(Self::Null, Self::Number)
            }
            Form::Real | Form::Double => text.parse().map_or(Self::Null, Self::Double),
            Form::Smalls | Form::Integers | Form::Numbers => {
                Self::Numbers(text.split(' ').filter_map(|number| number.parse().ok()).collect())
            }
            Form::Text => Self::Text(text.to_owned()),
            Form::Moment | Form::Interval | Form::Texts => Self::Null,
        }
    }
}

/// The rows of one system table.
pub(crate) struct TableRows {
    shape: &'static Shape,
    rows: Vec<Vec<Cell>>,
}

impl TableRows {
    /// A table without rows.
    pub(crate) fn new(shape: &'static Shape) -> Self {
        Self { shape, rows: Vec::new() }
    }

    /// Adds a row. Columns that are not named are NULL, or zero, false and empty where they may not be.
    pub(crate) fn row<const N: usize>(&mut self, cells: [(&str, Cell); N]) {
        let nothing = |column: &ShapeColumn| match column.required {
            true => Cell::nothing(column.form),
            false => Cell::Null,
        };
        let mut row: Vec<Cell> = self.shape.columns.iter().map(nothing).collect();
        for (name, cell) in cells {
            match self.shape.position(name) {
                Some(position) => row[position] = cell,
                None => debug_assert!(false, "{} has no column {name}", self.shape.name),
            }
        }
        self.rows.push(row);
    }

    /// Adds the rows of a file: the first line names the columns, tabs stand between values. Rows for
    /// which `keep` says no are passed over; it sees the value of the file's column `by`.
    pub(crate) fn file(&mut self, text: &str, by: &str, keep: impl Fn(&str) -> bool) {
        let mut lines = text.lines();
        let names: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
        let positions: Vec<Option<usize>> =
            names.iter().map(|name| self.shape.position(name)).collect();
        let key = names.iter().position(|name| *name == by);
        for line in lines {
            let values: Vec<&str> = line.split('\t').collect();
            if !key.and_then(|key| values.get(key)).is_some_and(|value| keep(value)) {
                continue;
            }
            self.row([]);
            let Some(row) = self.rows.last_mut() else { continue };
            for (position, value) in positions.iter().zip(values) {
                if let Some(position) = position {
                    row[*position] = Cell::parse(value, self.shape.columns[*position].form);
                }
            }
        }
    }

    /// Sets a column of the last row.
    pub(crate) fn set_last(&mut self, name: &str, cell: Cell) {
        if let Some((position, row)) = self.shape.position(name).zip(self.rows.last_mut()) {
            row[position] = cell;
        }
    }

    /// Says 0 in every count of the last row that nobody gave: what is counted does not happen here.
    pub(crate) fn no_other_counts(&mut self) {
        let Some(row) = self.rows.last_mut() else { return };
        for (column, cell) in self.shape.columns.iter().zip(row) {
            if column.type_name == "bigint" && matches!(cell, Cell::Null) {
                *cell = Cell::Number(0);
            }
        }
    }

    /// Sets a column of all rows so far.
    pub(crate) fn set_all(&mut self, name: &str, cell: Cell) {
        if let Some(position) = self.shape.position(name) {
            for row in &mut self.rows {
                row[position] = cell.clone();
            }
        }
    }

    /// The rows as Arrow holds them.
    pub(crate) fn batch(&self) -> Result<RecordBatch> {
        let columns = self.shape.columns.iter().enumerate();
        let arrays = columns.map(|(position, column)| {
            array(column.form, self.rows.iter().map(move |row| &row[position]))
        });
        let arrays = arrays.collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows.len()));
        Ok(RecordBatch::try_new_with_options(self.shape.arrow(), arrays, &options)?)
    }
}

/// Values of one form as Arrow holds them; what does not fit the form is NULL.
pub(crate) fn array<'a>(form: Form, cells: impl Iterator<Item = &'a Cell> + Clone) -> ArrayRef {
    let cells = || cells.clone();
    let numbers = || cells().map(Cell::number);
    match form {
        Form::Flag => {
            let flag = |cell: &Cell| match cell {
                Cell::Flag(flag) => Some(*flag),
                _ => None,
            };
            Arc::new(cells().map(flag).collect::<BooleanArray>())
        }
        Form::Small => {
            let narrow = |number: Option<i64>| number.and_then(|n| i16::try_from(n).ok());
            Arc::new(numbers().map(narrow).collect::<Int16Array>())
        }
        Form::Integer => {
            let narrow = |number: Option<i64>| number.and_then(|n| i32::try_from(n).ok());
            Arc::new(numbers().map(narrow).collect::<Int32Array>())
        }
        Form::Number => Arc::new(numbers().collect::<Int64Array>()),
        Form::Real => {
            let real = |cell: &Cell| cell.double().map(|double| double as f32);
            Arc::new(cells().map(real).collect::<Float32Array>())
        }
        Form::Double => Arc::new(cells().map(Cell::double).collect::<Float64Array>()),
        Form::Text => Arc::new(cells().map(Cell::text).collect::<StringViewArray>()),
        Form::Moment => {
            let moments = numbers().collect::<TimestampMicrosecondArray>();
            Arc::new(moments.with_timezone("+00:00"))
        }
        Form::Interval => new_null_array(&form.arrow(), cells().count()),
        Form::Smalls => lists::<Int16Type>(cells(), |item| i16::try_from(item).ok()),
        Form::Integers => lists::<Int32Type>(cells(), |item| i32::try_from(item).ok()),
        Form::Numbers => lists::<Int64Type>(cells(), Some),
        Form::Texts => {
            let mut builder = ListBuilder::new(StringViewBuilder::new());
            cells().for_each(|cell| match cell {
                Cell::Texts(items) => builder.append_value(items.iter().map(Option::as_ref)),
                _ => builder.append_null(),
            });
            Arc::new(builder.finish())
        }
    }
}

/// Arrays of numbers of one type; what does not fit the type is NULL.
fn lists<'a, T: ArrowPrimitiveType>(
    cells: impl Iterator<Item = &'a Cell>,
    narrow: impl Fn(i64) -> Option<T::Native>,
) -> ArrayRef {
    let mut builder = ListBuilder::new(PrimitiveBuilder::<T>::new());
    cells.for_each(|cell| match cell {
        Cell::Numbers(items) => builder.append_value(items.iter().map(|item| narrow(*item))),
        _ => builder.append_null(),
    });
    Arc::new(builder.finish())
}
