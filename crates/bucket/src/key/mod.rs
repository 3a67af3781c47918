//! Keys as bytes whose order is the order of the column values.
//!
//! | type | bytes |
//! |---|---|
//! | boolean | 1: 0 or 1 |
//! | smallint, integer, bigint, date, time, timestamp, numeric(p, s) | big-endian with the sign bit
//! flipped |
//! | real, double precision | IEEE total order: sign bit flipped, or all bits of a negative; -0 is
//! written as 0, and each NaN as the positive one |
//! | text, bytea | the bytes with 00 as 00 FF, then 00 00 |
//! | numeric without a declared scale | the key of [`Numeric`](numerics::Numeric), which equal numbers share |
//! | interval | 16: the length in nanoseconds, which equal intervals share, as an integer |
//! | arrays | each item as 01 and its bytes, or 02 for NULL; then 00 |
//!
//! Values that are equal in SQL have the same bytes. Key columns are NOT NULL, so there is no encoding of
//! NULL but in the entries of indexes (`entry`), which also have `jsonb`. No encoded value is a prefix
//! of another one of its column. A key of several columns is their concatenation, and keys with equal
//! leading columns have a common prefix. Unlike the row format of arrow, which converts batches,
//! encoding a single key takes only tens of nanoseconds.

mod document;
mod entry;
mod intervals;
mod shown;
mod source;
mod value;

pub use entry::{EntryEncoder, VALUE, entry_values, of_entries_from, of_entry};
pub use shown::{Stretches, describe, describe_bound, describe_entry, describe_rows};
pub use source::is_key_type;

use crate::Error;
use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::DataType;
use catalog::Table;
use sdds::Key;
use source::Source;
use std::cmp::Ordering;
use std::sync::Arc;
use value::decode_column;

/// Encodes the keys of rows.
#[derive(Debug)]
pub struct KeyEncoder {
    columns: Vec<Source>,
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

    /// Returns how the key of a row compares with another one, or with the beginning of one. `room` is room for its bytes.
    pub(crate) fn compare(&self, row: usize, key: &Key, room: &mut Vec<u8>) -> Ordering {
        if let [only] = self.columns.as_slice()
            && let Some(order) = only.compare(row, key.as_bytes())
        {
            return order;
        }
        room.clear();
        self.encode(row, room);
        room.as_slice().cmp(key.as_bytes())
    }

    /// Returns the key of a row.
    pub fn key(&self, row: usize) -> Key {
        let mut bytes = Vec::with_capacity(self.columns.len() * 9);
        self.encode(row, &mut bytes);
        Key::from(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        BinaryViewArray, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int32Array,
        Int64Array, ListArray, StringViewArray,
    };
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;

    fn key_of(columns: &[ArrayRef]) -> Key {
        encode_columns(columns).expect("key types").remove(0)
    }

    #[test]
    fn rows_compare_as_their_keys() {
        let texts = vec!["", "a", "a\0", "a\0b", "ab"];
        let columns: [ArrayRef; 4] = [
            Arc::new(Int32Array::from(vec![i32::MIN, -1, 0, 1, i32::MAX])),
            Arc::new(Decimal128Array::from(vec![i128::MIN, -1, 0, 1, i128::MAX])),
            Arc::new(StringViewArray::from(texts)),
            Arc::new(Float64Array::from(vec![-1.5, 0.0, 0.5, 2.0, f64::NAN])),
        ];
        for column in columns {
            let part = column.slice(1, 4);
            let encoder = KeyEncoder::new(std::slice::from_ref(&part)).expect("a key type");
            let all = encode_columns(&[column]).expect("a key type");
            let begun =
                all.iter().map(|key| Key::from(&key.as_bytes()[..key.as_bytes().len() - 1]));
            for other in all.iter().cloned().chain(begun) {
                for row in 0..part.len() {
                    let order = encoder.compare(row, &other, &mut Vec::new());
                    assert_eq!(order, encoder.key(row).cmp(&other), "{row} {other:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn integers_keep_their_order(a: i64, b: i64) {
            let key = |v: i64| key_of(&[Arc::new(Int64Array::from(vec![v]))]);
            prop_assert_eq!(key(a).cmp(&key(b)), a.cmp(&b));
        }

        #[test]
        fn floats_keep_their_order_with_one_zero(a: f64, b: f64) {
            let key = |v: f64| key_of(&[Arc::new(Float64Array::from(vec![v]))]);
            prop_assert_eq!(key(a).cmp(&key(b)), (a + 0.0).total_cmp(&(b + 0.0)));
        }

        #[test]
        fn arrays_are_ordered_by_their_items(
            a: Vec<Option<i32>>, b: Vec<Option<i32>>, x: i32, y: i32,
        ) {
            let list = |items: &Vec<Option<i32>>| -> ArrayRef {
                let lists = [Some(items.clone())];
                Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
            };
            let key = |items: &Vec<Option<i32>>, v: i32| {
                let columns: [ArrayRef; 2] = [list(items), Arc::new(Int32Array::from(vec![v]))];
                let types = columns.each_ref().map(|column| column.data_type().clone());
                assert_eq!(decode(&types, &key_of(&columns)), columns);
                key_of(&columns)
            };
            // NULL comes last.
            let ordered = |items: &[Option<i32>]| -> Vec<(bool, Option<i32>)> {
                items.iter().map(|item| (item.is_none(), *item)).collect()
            };
            let order = ordered(&a).cmp(&ordered(&b)).then(x.cmp(&y));
            prop_assert_eq!(key(&a, x).cmp(&key(&b, y)), order);
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
                Arc::new(Float32Array::from(vec![real + 0.0])),
            ];
            let types: Vec<_> = columns.iter().map(|c| c.data_type().clone()).collect();
            let back = decode(&types, &key_of(&columns));
            prop_assert_eq!(back, columns);
        }
    }

    #[test]
    fn leading_columns_are_counted() {
        let number: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        let text: ArrayRef = Arc::new(StringViewArray::from(vec!["a\0b"]));
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
