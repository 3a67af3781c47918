//! Rows as bytes: the key of a value, and the value.

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, LargeBinaryArray, LargeBinaryBuilder, new_null_array,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::{Result, internal_err};
use numerics::Numeric;
use std::sync::Arc;
use values::numbers::is_open;

/// How the columns of an aggregate become bytes.
#[derive(Debug)]
pub(super) enum Form {
    /// Numbers with a scale each.
    Numbers,
    /// Values and their keys.
    Keyed { values: Column, keys: Column },
}

/// A column, and the bytes of its NULL.
#[derive(Debug)]
pub(super) struct Column {
    converter: RowConverter,
    null: Vec<u8>,
}

impl Column {
    fn of(field: &FieldRef) -> Result<Self> {
        let converter = RowConverter::new(vec![SortField::new(field.data_type().clone())])?;
        let null = converter.convert_columns(&[new_null_array(field.data_type(), 1)])?;
        let null = null.row(0).data().to_vec();
        Ok(Self { converter, null })
    }

    /// The column of some bytes.
    fn array<'a>(&self, rows: impl Iterator<Item = Option<&'a [u8]>>) -> Result<ArrayRef> {
        let parser = self.converter.parser();
        let rows: Vec<&[u8]> = rows.map(|row| row.unwrap_or(&self.null)).collect();
        let rows = rows.iter().map(|row| parser.parse(row));
        match self.converter.convert_rows(rows)?.pop() {
            Some(column) => Ok(column),
            None => internal_err!("rows have no column"),
        }
    }
}

/// The rows of columns.
pub(super) enum Input<'a> {
    /// All values are NULL.
    Nulls,
    Numbers(&'a LargeBinaryArray),
    Keyed {
        nulls: Option<NullBuffer>,
        values: Rows,
        keys: Rows,
    },
}

impl Input<'_> {
    /// The key of a row and what follows it; `None` for NULL.
    pub(super) fn at(&self, row: usize) -> Option<(&[u8], &[u8])> {
        match self {
            Self::Nulls => None,
            Self::Numbers(numbers) => numbers.is_valid(row).then(|| {
                let bytes = numbers.value(row);
                bytes.split_at(Numeric::key_of(bytes).len())
            }),
            Self::Keyed { nulls, values, keys } => {
                let is_known = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
                is_known.then(|| (keys.row(row).data(), values.row(row).data()))
            }
        }
    }
}

/// A value as bytes, which begin with its key.
#[derive(Debug, Default)]
pub(super) struct Value {
    bytes: Vec<u8>,
    key: usize,
}

impl Value {
    pub(super) fn of(parts: (&[u8], &[u8])) -> Self {
        let mut value = Self::default();
        value.set(parts);
        value
    }

    pub(super) fn set(&mut self, (key, rest): (&[u8], &[u8])) {
        self.bytes.clear();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(rest);
        self.key = key.len();
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.bytes[..self.key]
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.key..]
    }

    /// The bytes that it holds in memory.
    pub(super) fn size(&self) -> usize {
        self.bytes.capacity()
    }
}

impl Form {
    /// The form for the arguments of an aggregate.
    pub(super) fn of(fields: &[FieldRef]) -> Result<Self> {
        match fields {
            [value] if is_open(value.data_type()) || value.data_type().is_null() => {
                Ok(Self::Numbers)
            }
            [value, key] => Ok(Self::Keyed { values: Column::of(value)?, keys: Column::of(key)? }),
            _ => internal_err!("an extreme value lacks its key"),
        }
    }

    /// The rows of columns.
    pub(super) fn input<'a>(&self, columns: &'a [ArrayRef]) -> Result<Input<'a>> {
        let nulls = columns[0].logical_nulls();
        if nulls.as_ref().map_or(0, NullBuffer::null_count) == columns[0].len() {
            return Ok(Input::Nulls);
        }
        Ok(match self {
            Self::Numbers => Input::Numbers(columns[0].as_binary::<i64>()),
            Self::Keyed { values, keys } => Input::Keyed {
                nulls,
                values: values.converter.convert_columns(&columns[..1])?,
                keys: keys.converter.convert_columns(&columns[1..2])?,
            },
        })
    }

    /// The columns of values.
    pub(super) fn columns<'a>(
        &self,
        rows: impl Iterator<Item = Option<&'a Value>> + Clone,
    ) -> Result<Vec<ArrayRef>> {
        Ok(match self {
            Self::Numbers => {
                let mut numbers = LargeBinaryBuilder::new();
                rows.for_each(|row| numbers.append_option(row.map(|row| row.bytes.as_slice())));
                let numbers: ArrayRef = Arc::new(numbers.finish());
                vec![numbers]
            }
            Self::Keyed { values, keys } => vec![
                values.array(rows.clone().map(|row| row.map(Value::rest)))?,
                keys.array(rows.map(|row| row.map(Value::key)))?,
            ],
        })
    }
}
