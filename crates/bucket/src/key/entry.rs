//! Entries of indexes: the values of some columns of a row, also NULL, as bytes in the order of the
//! index.
//!
//! | part | bytes |
//! |---|---|
//! | NULL | 0 if it comes first, otherwise 2 |
//! | a value | 1, then the value as in a key; inverted if the column descends |
//! | the row | its key; not in a unique index, unless a value is NULL |
//!
//! A value of `jsonb` is written as the bytes that order it, which who computes the values of an index makes of it. The
//! key of an entry's row in the index is its bytes as a value of `bytea`.

use super::KeyEncoder;
use super::value::{decode_bytes, decode_entered};
use crate::Error;
use arrow::array::{Array, ArrayRef, new_null_array};
use catalog::{Index, IndexColumn, SqlType, Table};
use sdds::{Bound, Key, KeyRange, encoding};
use std::sync::Arc;

const NULL_FIRST: u8 = 0;
/// Begins each value but NULL.
pub const VALUE: u8 = 1;
const NULL_LAST: u8 = 2;

/// Encodes the entries of rows.
pub struct EntryEncoder<'a> {
    index: &'a Index,
    columns: Vec<(ArrayRef, KeyEncoder)>,
}

impl<'a> EntryEncoder<'a> {
    /// Prepares the columns of the index, or leading ones.
    ///
    /// # Errors
    /// [`Error::KeyType`].
    pub fn new(index: &'a Index, columns: &[ArrayRef]) -> Result<Self, Error> {
        let column = |array: &ArrayRef| {
            let encoder = KeyEncoder::new(std::slice::from_ref(array))?;
            Ok((Arc::clone(array), encoder))
        };
        Ok(Self { index, columns: columns.iter().map(column).collect::<Result<_, Error>>()? })
    }

    /// Returns the entry of a row with this key.
    pub fn entry(&self, row: usize, key: &Key) -> Vec<u8> {
        let mut bytes = self.values(row);
        let has_null = self.columns.iter().any(|(array, _)| array.is_null(row));
        if !self.index.is_enforced() || has_null && !self.index.nulls_equal {
            bytes.extend_from_slice(key.as_bytes());
        }
        bytes
    }

    /// Returns the values of a row: the beginning of its entry.
    pub fn values(&self, row: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.columns.len() * 10 + 16);
        for ((array, encoder), column) in self.columns.iter().zip(&self.index.columns) {
            if array.is_null(row) {
                bytes.push(if column.nulls_first { NULL_FIRST } else { NULL_LAST });
                continue;
            }
            bytes.push(VALUE);
            let start = bytes.len();
            encoder.encode(row, &mut bytes);
            if column.descending {
                bytes[start..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        bytes
    }
}

/// Returns the key of an entry in the file of its index.
pub fn of_entry(entry: &[u8]) -> Key {
    let mut bytes = Vec::with_capacity(entry.len() + 2);
    encoding::bytes(entry, &mut bytes);
    Key::from(bytes)
}

/// Returns the keys of the entries that begin with some bytes.
pub fn of_entries_from(beginning: &[u8]) -> KeyRange {
    let mut low = of_entry(beginning).as_bytes().to_vec();
    low.truncate(low.len() - 2);
    let mut high = low.clone();
    while high.pop_if(|last| *last == u8::MAX).is_some() {}
    let high = match high.last_mut() {
        Some(last) => {
            *last += 1;
            Bound::At(Key::from(high))
        }
        None => Bound::PosInf,
    };
    let low = if low.is_empty() { Bound::NegInf } else { Bound::At(Key::from(low)) };
    KeyRange { low, high }
}

/// Returns the values in an entry that has this key, one array of length 1 for each column. An array
/// of NULL has the type of its column.
pub fn entry_values(index: &Index, table: &Table, key: &Key) -> Vec<ArrayRef> {
    let Some(entry) = decode_bytes(&mut key.as_bytes()) else { return Vec::new() };
    let mut rest = entry.as_slice();
    let mut values = Vec::with_capacity(index.columns.len());
    for (column, sql_type) in index.columns.iter().zip(index.types(table)) {
        let Some(sql_type) = sql_type else { break };
        let Some(value) = entry_value(column, sql_type, &mut rest) else { break };
        values.push(value);
    }
    values
}

fn entry_value(column: &IndexColumn, sql_type: &SqlType, rest: &mut &[u8]) -> Option<ArrayRef> {
    let (kind, values) = rest.split_first()?;
    *rest = values;
    if *kind != VALUE {
        return Some(new_null_array(&sql_type.arrow(), 1));
    }
    if !column.descending {
        return decode_entered(sql_type, rest);
    }
    let inverted: Vec<u8> = rest.iter().map(|byte| !byte).collect();
    let mut left = inverted.as_slice();
    let value = decode_entered(sql_type, &mut left)?;
    *rest = &rest[rest.len() - left.len()..];
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tables::keyed;
    use arrow::array::{Float64Array, Int64Array, StringViewArray};
    use catalog::{ColumnId, TableId};
    use proptest::prelude::*;
    use std::cmp::Ordering;

    fn index(descending: bool, nulls_first: bool) -> (Table, Index) {
        let table = keyed("t");
        let column =
            |id: u32| IndexColumn { descending, nulls_first, ..IndexColumn::new(ColumnId(id)) };
        let index = Index::new(TableId(9), "i".to_owned(), &table, vec![column(1), column(0)]);
        (table, index)
    }

    fn columns(text: Option<&str>, number: Option<i64>) -> Vec<ArrayRef> {
        vec![Arc::new(StringViewArray::from(vec![text])), Arc::new(Int64Array::from(vec![number]))]
    }

    fn compared<T: Ord>(a: &Option<T>, b: &Option<T>, (desc, first): (bool, bool)) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if desc => b.cmp(a),
            (Some(a), Some(b)) => a.cmp(b),
            (None, None) => Ordering::Equal,
            (None, Some(_)) if first => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) if first => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
        }
    }

    proptest! {
        #[test]
        fn entries_have_the_order_of_their_index(
            a: Option<String>, b: Option<String>, x: Option<i64>, y: Option<i64>,
            descending: bool, first: bool,
        ) {
            let (table, index) = index(descending, first);
            let entry = |text: &Option<String>, number| {
                let columns = columns(text.as_deref(), number);
                let encoder = EntryEncoder::new(&index, &columns).expect("key types");
                let entry = encoder.entry(0, &Key::default());
                let back = entry_values(&index, &table, &of_entry(&entry));
                assert_eq!(back, columns);
                assert!(of_entries_from(&encoder.values(0)).contains(&of_entry(&entry)));
                of_entry(&entry)
            };
            let order = compared(&a, &b, (descending, first));
            let order = order.then(compared(&x, &y, (descending, first)));
            prop_assert_eq!(entry(&a, x).cmp(&entry(&b, y)), order);
        }
    }

    #[test]
    fn equal_floats_have_one_entry() {
        let values: ArrayRef = Arc::new(Float64Array::from(vec![0.0, -0.0, f64::NAN, -f64::NAN]));
        let (_, index) = index(false, false);
        let encoder = EntryEncoder::new(&index, &[values]).expect("a key type");
        assert_eq!(encoder.values(0), encoder.values(1));
        assert_eq!(encoder.values(2), encoder.values(3));
        assert!(encoder.values(0) < encoder.values(2));
    }

    #[test]
    fn the_last_beginning_has_no_end() {
        assert_eq!(of_entries_from(&[]), KeyRange::all());
        assert_eq!(of_entries_from(&[255, 255]).high, Bound::PosInf);
        let range = of_entries_from(&[1, 255]);
        assert!(range.contains(&of_entry(&[1, 255, 7])) && !range.contains(&of_entry(&[2])));
    }
}
