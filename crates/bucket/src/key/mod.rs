//! Keys as bytes whose order is the order of the column values.
//!
//! | type | bytes |
//! |---|---|
//! | boolean | 1: 0 or 1 |
//! | smallint, integer, bigint, date, time, timestamp, numeric(p, s) | big-endian with the sign bit
//! flipped |
//! | real, double precision | IEEE total order: sign bit flipped, or all bits of a negative |
//! | text, bytea | the bytes with 00 as 00 FF, then 00 00 |
//! | numeric without a declared scale | the key of [`Numeric`], which equal numbers share |
//!
//! Key columns are NOT NULL, so there is no encoding of NULL but in the entries of indexes (`entry`). No encoded value is a prefix of
//! another one of its column. A key of several columns is their concatenation, and keys with equal
//! leading columns have a common prefix. Unlike the row format of arrow, which converts batches,
//! encoding a single key takes only tens of nanoseconds.

mod entry;
mod shown;

pub use entry::{EntryEncoder, VALUE, entry_values, of_entries_from, of_entry};
pub use shown::{Stretches, describe, describe_bound, describe_entry, describe_rows};

use crate::Error;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Float32Array, Float64Array,
    LargeBinaryArray, RecordBatch, StringViewArray, make_array,
};
use arrow::buffer::Buffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float32Type, Float64Type, TimeUnit};
use catalog::Table;
use numerics::Numeric;
use sdds::{Key, encoding};
use std::sync::Arc;

/// Encodes the keys of rows.
pub struct KeyEncoder {
    columns: Vec<Source>,
}

/// The values of a column, prepared for access by row.
enum Source {
    Boolean(BooleanArray),
    /// Little-endian integers of this width in bytes.
    Integer(Buffer, usize),
    Float32(Float32Array),
    Float64(Float64Array),
    Text(StringViewArray),
    Bytes(BinaryViewArray),
    Numbers(LargeBinaryArray),
}

/// Width of the widest integer-like type in bytes.
const WIDEST: usize = 16;

/// Returns the width of a type whose order is that of two's complement integers, in bytes.
fn integer_width(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Int16 => Some(2),
        DataType::Int32 | DataType::Date32 => Some(4),
        DataType::Int64
        | DataType::Timestamp(TimeUnit::Microsecond, _)
        | DataType::Time64(TimeUnit::Microsecond) => Some(8),
        DataType::Decimal128(_, _) => Some(16),
        _ => None,
    }
}

/// Whether a column of this type can be part of a key.
pub fn is_key_type(data_type: &DataType) -> bool {
    integer_width(data_type).is_some()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Float32
                | DataType::Float64
                | DataType::Utf8View
                | DataType::BinaryView
                | DataType::LargeBinary
        )
}

impl KeyEncoder {
    /// Prepares the key columns, in key order.
    ///
    /// # Errors
    /// [`Error::KeyType`].
    pub fn new(columns: &[ArrayRef]) -> Result<Self, Error> {
        let columns = columns.iter().map(Source::new).collect::<Result<_, _>>()?;
        Ok(Self { columns })
    }

    /// Appends the key of a row to `out`.
    pub fn encode(&self, row: usize, out: &mut Vec<u8>) {
        for column in &self.columns {
            column.encode(row, out);
        }
    }

    /// Returns the key of a row.
    pub fn key(&self, row: usize) -> Key {
        let mut bytes = Vec::with_capacity(self.columns.len() * 9);
        self.encode(row, &mut bytes);
        Key::from(bytes)
    }
}

impl Source {
    fn new(array: &ArrayRef) -> Result<Self, Error> {
        let data_type = array.data_type();
        if let Some(width) = integer_width(data_type) {
            let data = array.to_data();
            let buffer =
                data.buffers()[0].slice_with_length(data.offset() * width, data.len() * width);
            return Ok(Self::Integer(buffer, width));
        }
        Ok(match data_type {
            DataType::Boolean => Self::Boolean(array.as_boolean().clone()),
            DataType::Float32 => Self::Float32(array.as_primitive::<Float32Type>().clone()),
            DataType::Float64 => Self::Float64(array.as_primitive::<Float64Type>().clone()),
            DataType::Utf8View => Self::Text(array.as_string_view().clone()),
            DataType::BinaryView => Self::Bytes(array.as_binary_view().clone()),
            DataType::LargeBinary => Self::Numbers(array.as_binary::<i64>().clone()),
            other => return Err(Error::KeyType { data_type: other.to_string() }),
        })
    }

    fn encode(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Boolean(values) => encoding::boolean(values.value(row), out),
            Self::Integer(buffer, width) => {
                let little = &buffer.as_slice()[row * width..(row + 1) * width];
                let mut big = [0; WIDEST];
                let big = &mut big[..*width];
                big.copy_from_slice(little);
                big.reverse();
                encoding::integer(big, out);
            }
            Self::Float32(values) => encoding::float32(values.value(row), out),
            Self::Float64(values) => encoding::float64(values.value(row), out),
            Self::Text(values) => encoding::bytes(values.value(row).as_bytes(), out),
            Self::Bytes(values) => encoding::bytes(values.value(row), out),
            Self::Numbers(values) => out.extend_from_slice(Numeric::key_of(values.value(row))),
        }
    }
}

/// Prepares the key columns of rows that have all columns.
///
/// # Errors
/// [`Error::NullKey`].
pub fn encoder(table: &Table, rows: &RecordBatch) -> Result<KeyEncoder, Error> {
    let mut columns = Vec::with_capacity(table.key.len());
    for index in table.key_indices() {
        refuse_nulls(table, index, rows.column(index))?;
        columns.push(Arc::clone(rows.column(index)));
    }
    KeyEncoder::new(&columns)
}

fn refuse_nulls(table: &Table, index: usize, column: &ArrayRef) -> Result<(), Error> {
    if column.null_count() == 0 {
        return Ok(());
    }
    Err(Error::NullKey {
        schema: table.schema.clone(),
        table: table.name.clone(),
        column: table.columns[index].name.clone(),
    })
}

/// Returns the keys of rows that have all columns of a table.
///
/// # Errors
/// [`Error::NullKey`].
pub fn of_rows(table: &Table, rows: &RecordBatch) -> Result<Vec<Key>, Error> {
    let encoder = encoder(table, rows)?;
    Ok((0..rows.num_rows()).map(|row| encoder.key(row)).collect())
}

/// Returns the keys of rows, given their key columns. Leading key columns give prefixes of keys.
///
/// # Errors
/// [`Error::KeyType`] for a type without an order-preserving encoding.
pub fn encode_columns(columns: &[ArrayRef]) -> Result<Vec<Key>, Error> {
    let encoder = KeyEncoder::new(columns)?;
    let rows = columns.first().map_or(0, |column| column.len());
    Ok((0..rows).map(|row| encoder.key(row)).collect())
}

/// Returns the values in a key, one array of length 1 for each column.
pub fn decode(types: &[DataType], key: &Key) -> Vec<ArrayRef> {
    let mut rest = key.as_bytes();
    types.iter().map_while(|data_type| decode_column(data_type, &mut rest)).collect()
}

/// Returns the number of leading columns that a key consists of; `None` if it ends within a column
/// or continues after the last.
pub fn whole_columns(types: &[DataType], key: &Key) -> Option<usize> {
    let mut rest = key.as_bytes();
    for (columns, data_type) in types.iter().enumerate() {
        if rest.is_empty() {
            return Some(columns);
        }
        decode_column(data_type, &mut rest)?;
    }
    rest.is_empty().then_some(types.len())
}

fn decode_column(data_type: &DataType, rest: &mut &[u8]) -> Option<ArrayRef> {
    if let Some(width) = integer_width(data_type) {
        let mut little = take_bytes(rest, width)?.to_vec();
        little[0] ^= 0x80;
        little.reverse();
        return fixed(data_type, &little);
    }
    match data_type {
        DataType::Boolean => Some(Arc::new(BooleanArray::from(vec![take_bytes(rest, 1)?[0] != 0]))),
        DataType::Float32 => {
            let ordered = u32::from_be_bytes(take_bytes(rest, 4)?.try_into().ok()?);
            let bits = if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered };
            fixed(data_type, &bits.to_le_bytes())
        }
        DataType::Float64 => {
            let ordered = u64::from_be_bytes(take_bytes(rest, 8)?.try_into().ok()?);
            let bits = if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered };
            fixed(data_type, &bits.to_le_bytes())
        }
        DataType::Utf8View | DataType::BinaryView => {
            let bytes = decode_bytes(rest)?;
            let binary: ArrayRef = Arc::new(BinaryViewArray::from_iter_values([bytes]));
            cast(&binary, data_type).ok()
        }
        DataType::LargeBinary => {
            let mut bytes = take_bytes(rest, Numeric::key_length(rest)?)?.to_vec();
            // The scale is not part of the key: as many digits as the number has.
            bytes.extend(SCALE_MAX.to_be_bytes());
            let number = Numeric::decode(&bytes).ok()?.trim_scale();
            bytes.clear();
            number.encode(&mut bytes);
            Some(Arc::new(LargeBinaryArray::from_iter_values([bytes])))
        }
        _ => None,
    }
}

/// The greatest scale of a number.
const SCALE_MAX: u16 = numerics::SCALE_MAX as u16;

fn take_bytes<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn decode_bytes(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        match take_bytes(rest, 1)?[0] {
            0 => match take_bytes(rest, 1)?[0] {
                0 => return Some(bytes),
                _ => bytes.push(0),
            },
            byte => bytes.push(byte),
        }
    }
}

fn fixed(data_type: &DataType, little: &[u8]) -> Option<ArrayRef> {
    let data = arrow::array::ArrayData::builder(data_type.clone())
        .len(1)
        .add_buffer(Buffer::from(little))
        .align_buffers(true)
        .build()
        .ok()?;
    Some(make_array(data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Int32Array, Int64Array};
    use proptest::prelude::*;

    fn key_of(columns: &[ArrayRef]) -> Key {
        encode_columns(columns).expect("key types").remove(0)
    }

    proptest! {
        #[test]
        fn integers_keep_their_order(a: i64, b: i64) {
            let key = |v: i64| key_of(&[Arc::new(Int64Array::from(vec![v]))]);
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
        }

        #[test]
        fn floats_keep_their_total_order(a: f64, b: f64) {
            let key = |v: f64| key_of(&[Arc::new(Float64Array::from(vec![v]))]);
            prop_assert_eq!(key(a).cmp(&key(b)), a.total_cmp(&b));
        }

        #[test]
        fn decimals_keep_their_order(a: i128, b: i128) {
            let key = |v: i128| key_of(&[Arc::new(Decimal128Array::from(vec![v]))]);
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
        }

        #[test]
        fn several_columns_compare_one_after_the_other(
            a: Vec<u8>, b: Vec<u8>, x: i32, y: i32,
        ) {
            let key = |bytes: &[u8], v: i32| key_of(&[
                Arc::new(BinaryViewArray::from_iter_values([bytes])),
                Arc::new(Int32Array::from(vec![v])),
            ]);
            prop_assert_eq!(key(&a, x).cmp(&key(&b, y)), (&a, x).cmp(&(&b, y)));
        }

        #[test]
        fn a_key_gives_its_values_back(text: String, number: i64, flag: bool, real: f32) {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(StringViewArray::from_iter_values([text])),
                Arc::new(Int64Array::from(vec![number])),
                Arc::new(BooleanArray::from(vec![flag])),
                Arc::new(Float32Array::from(vec![real])),
            ];
            let types: Vec<_> = columns.iter().map(|c| c.data_type().clone()).collect();
            let back = decode(&types, &key_of(&columns));
            prop_assert_eq!(back, columns);
        }
    }

    #[test]
    fn leading_columns_are_counted() {
        let number: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        let text: ArrayRef = Arc::new(arrow::array::StringViewArray::from(vec!["a\0b"]));
        let types = [number.data_type().clone(), text.data_type().clone()];
        let whole = |key: &Key| whole_columns(&types, key);
        assert_eq!(whole(&Key::from(Vec::new())), Some(0));
        assert_eq!(whole(&key_of(&[Arc::clone(&number)])), Some(1));
        assert_eq!(whole(&key_of(&[Arc::clone(&number)]).successor()), None);
        let both = key_of(&[number, text]);
        assert_eq!(whole(&both), Some(2));
        assert_eq!(whole(&both.successor()), None);
        assert_eq!(whole(&Key::from(both.as_bytes()[..9].to_vec())), None);
    }
}
