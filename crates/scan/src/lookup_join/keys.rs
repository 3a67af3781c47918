//! The keys of left rows, as ranges of keys in a table or of entries in an index.

use super::way::{Value, Way};
use crate::index_lookup::disjoint;
use crate::key_ranges::of_key;
use datafusion::arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use datafusion::arrow::compute::{and, cast, filter, is_not_null};
use datafusion::common::{Result, ScalarValue};
use sdds::KeyRange;
use store::key::{EntryEncoder, encode_columns, of_entries_from, of_entry};
use values::translate::external;

impl Way<'_> {
    /// The ranges that left rows name, in order. None of them overlaps another.
    pub(super) fn ranges(&self, left: &[RecordBatch]) -> Result<Vec<KeyRange>> {
        let mut ranges = Vec::new();
        for batch in left.iter().filter(|batch| batch.num_rows() > 0) {
            let columns = without_null(self.columns(batch)?)?;
            self.add(&columns, &mut ranges)?;
        }
        let mut ranges = disjoint(ranges);
        ranges.dedup();
        Ok(ranges)
    }

    /// The values of the key's leading columns for each row.
    fn columns(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let rows = batch.num_rows();
        let columns = self.values.iter().map(|value| match value {
            Value::Fixed(value) => ScalarValue::try_from_array(value, 0)?.to_array_of_size(rows),
            Value::Left(joined) => {
                let value = joined.left.evaluate(batch)?.into_array(rows)?;
                let data_type = self.table.columns[joined.column].sql_type.arrow();
                // An integer that the column cannot have becomes NULL.
                let is_same = *value.data_type() == data_type;
                if is_same { Ok(value) } else { Ok(cast(&value, &data_type)?) }
            }
        });
        columns.collect()
    }

    fn add(&self, columns: &[ArrayRef], ranges: &mut Vec<KeyRange>) -> Result<()> {
        let refused = |error| external(values::Error::from(store::Error::from(error)));
        let Some((index, _)) = self.index else {
            let keys = encode_columns(columns).map_err(refused)?;
            let whole = self.is_unique;
            ranges.extend(keys.iter().filter_map(|key| match whole {
                true => Some(KeyRange::point(key)),
                false => of_key(key.as_bytes()),
            }));
            return Ok(());
        };
        let entries = EntryEncoder::new(index, columns).map_err(refused)?;
        let rows = columns.first().map_or(0, |column| column.len());
        ranges.extend((0..rows).map(|row| match self.is_unique {
            true => KeyRange::point(&of_entry(&entries.values(row))),
            false => of_entries_from(&entries.values(row)),
        }));
        Ok(())
    }
}

/// The rows in which no column is NULL, which joins with nothing.
fn without_null(columns: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
    let mut valid: Option<BooleanArray> = None;
    for column in columns.iter().filter(|column| column.null_count() > 0) {
        let has_value = is_not_null(column)?;
        valid = Some(match valid {
            Some(valid) => and(&valid, &has_value)?,
            None => has_value,
        });
    }
    match valid {
        Some(valid) => columns.iter().map(|column| Ok(filter(column, &valid)?)).collect(),
        None => Ok(columns),
    }
}
