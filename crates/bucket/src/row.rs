//! Rows as bytes, for the delta.
//!
//! ```text
//! | null bits | slot of column 0 | slot of column 1 | ... | variable bytes |
//! ```
//!
//! A slot of a fixed-width type contains the little-endian value. A slot of a variable-width type
//! contains the offset and the length (two u32) of its bytes after the slots. Types that are
//! neither (lists, structs, unsigned integers) are variable-width: their bytes are a nested value
//! ([`crate::nested`]). The form is stable: rows are in logs and checkpoints on disk
//! ([`crate::stable_rows`]).

use crate::Error;
use crate::layout::{Layout, LayoutColumn, missing_values};
use crate::nested;
use arrow::array::{
    Array, ArrayData, ArrayRef, AsArray, BinaryViewArray, BinaryViewBuilder, BooleanArray,
    BooleanBufferBuilder, StringViewArray, StringViewBuilder, make_array, new_empty_array,
};
use arrow::buffer::Buffer;
use arrow::compute::concat;
use arrow::datatypes::{DataType, IntervalUnit};
use catalog::{ColumnId, Table};
use std::sync::Arc;

/// Maximum size of a value in bytes.
pub const VALUE_BYTES_MAX: u64 = 64 << 20;

const VARIABLE_SLOT: usize = 8;

/// A row with its layout.
#[derive(Debug, Clone)]
pub struct Row {
    layout: Arc<RowLayout>,
    bytes: Box<[u8]>,
}

impl Row {
    /// Returns its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the layout.
    pub(crate) fn layout(&self) -> &Arc<RowLayout> {
        &self.layout
    }

    /// Returns the bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Makes a row of bytes that were read; `None` if they do not have the form of the layout.
    pub(crate) fn of_bytes(layout: &Arc<RowLayout>, bytes: &[u8]) -> Option<Self> {
        if bytes.len() < layout.variable {
            return None;
        }
        let row = Self { layout: Arc::clone(layout), bytes: bytes.into() };
        for (index, (slot, form)) in layout.slots.iter().enumerate() {
            if form.is_variable() && !row.is_null(index) {
                let (offset, length) = row.variable(*slot);
                let value = bytes.get(offset..offset.checked_add(length)?)?;
                form.accepts(value, &layout.layout.columns[index].data_type).then_some(())?;
            }
        }
        Some(row)
    }
}

/// A layout with the offsets of its slots.
#[derive(Debug)]
pub struct RowLayout {
    layout: Arc<Layout>,
    slots: Vec<(usize, Form)>,
    variable: usize,
}

/// How values of a type are stored in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Boolean,
    Fixed(usize),
    Text,
    Bytes,
    Foreign,
}

impl Form {
    fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean,
            DataType::Int16 => Self::Fixed(2),
            DataType::Int32 | DataType::Float32 | DataType::Date32 => Self::Fixed(4),
            DataType::Int64
            | DataType::Float64
            | DataType::Time64(_)
            | DataType::Timestamp(_, _) => Self::Fixed(8),
            DataType::Decimal128(_, _) | DataType::Interval(IntervalUnit::MonthDayNano) => {
                Self::Fixed(16)
            }
            DataType::Utf8View => Self::Text,
            DataType::BinaryView => Self::Bytes,
            _ => Self::Foreign,
        }
    }

    fn is_variable(self) -> bool {
        matches!(self, Self::Text | Self::Bytes | Self::Foreign)
    }

    /// Whether bytes of a variable width are a value.
    fn accepts(self, value: &[u8], data_type: &DataType) -> bool {
        match self {
            Self::Boolean | Self::Fixed(_) | Self::Bytes => true,
            Self::Text => std::str::from_utf8(value).is_ok(),
            Self::Foreign => nested::decode(&[Some(value)], data_type).is_ok(),
        }
    }

    fn slot(self) -> usize {
        match self {
            Self::Boolean => 1,
            Self::Fixed(width) => width,
            Self::Text | Self::Bytes | Self::Foreign => VARIABLE_SLOT,
        }
    }
}

impl RowLayout {
    /// Returns the columns.
    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// Computes the slots of a layout.
    pub fn new(layout: Arc<Layout>) -> Arc<Self> {
        let mut at = layout.columns.len().div_ceil(8);
        let mut slots = Vec::with_capacity(layout.columns.len());
        for column in &layout.columns {
            let form = Form::of(&column.data_type);
            slots.push((at, form));
            at += form.slot();
        }
        Arc::new(Self { layout, slots, variable: at })
    }
}

/// Encodes rows of arrays as [`Row`]s.
pub struct RowEncoder {
    layout: Arc<RowLayout>,
    columns: Vec<(ArrayRef, Source)>,
}

enum Source {
    Boolean(BooleanArray),
    Fixed(Buffer),
    Text(StringViewArray),
    Bytes(BinaryViewArray),
    Foreign,
}

impl RowEncoder {
    /// Prepares the arrays of all columns, in the order of the layout.
    ///
    /// # Panics
    /// If the arrays are not those of the layout.
    pub fn new(layout: &Arc<RowLayout>, columns: &[ArrayRef]) -> Self {
        assert_eq!(columns.len(), layout.slots.len(), "a row has all columns");
        let columns = columns.iter().zip(&layout.slots).map(|(array, &(_, form))| {
            let source = match form {
                Form::Boolean => Source::Boolean(array.as_boolean().clone()),
                Form::Fixed(width) => {
                    let data = array.to_data();
                    let (start, len) = (data.offset() * width, data.len() * width);
                    Source::Fixed(data.buffers()[0].slice_with_length(start, len))
                }
                Form::Text => Source::Text(array.as_string_view().clone()),
                Form::Bytes => Source::Bytes(array.as_binary_view().clone()),
                Form::Foreign => Source::Foreign,
            };
            (Arc::clone(array), source)
        });
        Self { layout: Arc::clone(layout), columns: columns.collect() }
    }

    /// Encodes the row at a position.
    ///
    /// # Errors
    /// [`Error::ValueTooLarge`]; [`Error::Arrow`] for types that Arrow IPC does not support.
    pub fn encode(&self, row: usize) -> Result<Row, Error> {
        let mut bytes = vec![0; self.layout.variable];
        let mut foreign = Vec::new();
        for (index, (array, source)) in self.columns.iter().enumerate() {
            if array.is_null(row) {
                bytes[index / 8] |= 1 << (index % 8);
                continue;
            }
            let (slot, form) = self.layout.slots[index];
            let value: &[u8] = match source {
                Source::Boolean(values) => &[u8::from(values.value(row))],
                Source::Fixed(buffer) => &buffer.as_slice()[row * form.slot()..][..form.slot()],
                Source::Text(values) => values.value(row).as_bytes(),
                Source::Bytes(values) => values.value(row),
                Source::Foreign => {
                    foreign.clear();
                    nested::encode(array, row, &mut foreign)?;
                    &foreign
                }
            };
            match form {
                Form::Boolean | Form::Fixed(_) => {
                    bytes[slot..slot + form.slot()].copy_from_slice(value);
                }
                Form::Text | Form::Bytes | Form::Foreign => {
                    self.append_variable(index, slot, value, &mut bytes)?;
                }
            }
        }
        Ok(Row { layout: Arc::clone(&self.layout), bytes: bytes.into() })
    }

    fn append_variable(
        &self,
        index: usize,
        slot: usize,
        value: &[u8],
        bytes: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let column = &self.layout.layout.columns[index];
        check_value_size(column, value.len() as u64)?;
        let offset = u32::try_from(bytes.len()).ok();
        let Some(offset) = offset else {
            return Err(too_large(column, bytes.len() as u64, u64::from(u32::MAX)));
        };
        let length = value.len() as u32; // At most VALUE_BYTES_MAX.
        bytes[slot..slot + 4].copy_from_slice(&offset.to_le_bytes());
        bytes[slot + 4..slot + 8].copy_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(value);
        Ok(())
    }
}

/// Refuses a value above [`VALUE_BYTES_MAX`].
///
/// # Errors
/// [`Error::ValueTooLarge`].
pub fn check_value_size(column: &LayoutColumn, bytes: u64) -> Result<(), Error> {
    if bytes > VALUE_BYTES_MAX {
        return Err(too_large(column, bytes, VALUE_BYTES_MAX));
    }
    Ok(())
}

fn too_large(column: &LayoutColumn, bytes: u64, limit: u64) -> Error {
    Error::ValueTooLarge { column: column.name.clone(), bytes, limit }
}

/// Decodes a column of rows, as the table defines it now.
///
/// # Errors
/// [`Error::Arrow`] for values that do not fit the type.
pub fn decode_column(rows: &[&Row], table: &Table, column: usize) -> Result<ArrayRef, Error> {
    let data_type = table.columns[column].sql_type.arrow();
    let id = table.columns[column].id;
    let mut pieces: Vec<ArrayRef> = Vec::new();
    for same in rows.chunk_by(|a, b| Arc::ptr_eq(&a.layout, &b.layout)) {
        pieces.push(match same[0].layout.layout.position(id) {
            Some(index) => decode_same_layout(same, index, &data_type, id)?,
            None => missing_values(table, column, same.len()),
        });
    }
    match pieces.len() {
        0 => Ok(new_empty_array(&data_type)),
        1 => Ok(pieces.remove(0)),
        _ => Ok(concat(&pieces.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
    }
}

fn decode_same_layout(
    rows: &[&Row],
    index: usize,
    data_type: &DataType,
    id: ColumnId,
) -> Result<ArrayRef, Error> {
    let layout = &rows[0].layout;
    debug_assert_eq!(layout.layout.columns[index].id, id);
    let (slot, form) = layout.slots[index];
    let values = rows.iter().map(|row| row.value(index, slot, form));
    Ok(match form {
        Form::Boolean => Arc::new(values.map(|v| v.map(|v| v[0] != 0)).collect::<BooleanArray>()),
        Form::Fixed(width) => decode_fixed(values, rows.len(), width, data_type)?,
        Form::Text => {
            let mut builder = StringViewBuilder::with_capacity(rows.len());
            for value in values {
                let text = value.map(|bytes| {
                    std::str::from_utf8(bytes).expect("text was written from a string array")
                });
                builder.append_option(text);
            }
            Arc::new(builder.finish())
        }
        Form::Bytes => {
            let mut builder = BinaryViewBuilder::with_capacity(rows.len());
            values.for_each(|value| builder.append_option(value));
            Arc::new(builder.finish())
        }
        Form::Foreign => nested::decode(&values.collect::<Vec<_>>(), data_type)?,
    })
}

impl Row {
    fn is_null(&self, index: usize) -> bool {
        self.bytes[index / 8] & (1 << (index % 8)) != 0
    }

    /// Returns offset and length in a slot of a variable width.
    fn variable(&self, slot: usize) -> (usize, usize) {
        let word = |at: usize| {
            let bytes = &self.bytes[at..at + 4];
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize
        };
        (word(slot), word(slot + 4))
    }

    fn value(&self, index: usize, slot: usize, form: Form) -> Option<&[u8]> {
        if self.is_null(index) {
            return None;
        }
        if !form.is_variable() {
            return Some(&self.bytes[slot..slot + form.slot()]);
        }
        let (offset, length) = self.variable(slot);
        Some(&self.bytes[offset..][..length])
    }
}

fn decode_fixed<'a>(
    values: impl Iterator<Item = Option<&'a [u8]>>,
    rows: usize,
    width: usize,
    data_type: &DataType,
) -> Result<ArrayRef, Error> {
    let mut bytes = Vec::with_capacity(rows * width);
    let mut valid = BooleanBufferBuilder::new(rows);
    for value in values {
        valid.append(value.is_some());
        match value {
            Some(value) => bytes.extend_from_slice(value),
            None => bytes.resize(bytes.len() + width, 0),
        }
    }
    let data = ArrayData::builder(data_type.clone())
        .len(rows)
        .add_buffer(Buffer::from_vec(bytes))
        .null_bit_buffer(Some(valid.finish().into_inner()))
        .align_buffers(true)
        .build()?;
    Ok(make_array(data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tables::{self, every_type};

    #[test]
    fn every_type_comes_back_as_it_was_written_nulls_too() {
        let (table, batch) = every_type();
        let layout = RowLayout::new(Layout::of(&table));
        let encoder = RowEncoder::new(&layout, batch.columns());
        let rows: Vec<Row> =
            (0..batch.num_rows()).map(|row| encoder.encode(row).expect("encoded")).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        for column in 0..batch.num_columns() {
            let back = decode_column(&rows, &table, column).expect("decoded");
            assert_eq!(&back, batch.column(column), "column {column}");
        }
    }

    #[test]
    fn a_value_above_the_limit_is_refused_by_name() {
        let table = test_tables::keyed("t");
        let layout = RowLayout::new(Layout::of(&table));
        let long = "x".repeat(VALUE_BYTES_MAX as usize + 1);
        let batch = test_tables::rows(&[(1, &long)]);
        let encoder = RowEncoder::new(&layout, batch.columns());
        let error = encoder.encode(0).expect_err("refused").to_string();
        assert!(error.contains("67108865") && error.contains("\"value\""), "{error}");
    }
}
