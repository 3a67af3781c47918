//! The stable encoding of rows, for logs and checkpoints on disk.
//!
//! A row is the number of its layout and its bytes. Layouts are numbered from 0 in the order of their
//! first use, and follow the number that is used for the first time: columns (id and type) and the
//! positions of the key columns. So a command or a block of a checkpoint explains itself.

use crate::layout::{Layout, LayoutColumn};
use crate::row::{Row, RowLayout};
use catalog::ColumnId;
use catalog::stable::{self, Malformed, Source, Stable, put_bytes, take_bytes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Writes the rows of a command or block.
#[derive(Debug, Default)]
pub struct RowWriter {
    layouts: Vec<Arc<RowLayout>>,
}

impl RowWriter {
    /// Appends a row; `None` is that of a deletion.
    pub fn put(&mut self, row: Option<&Row>, out: &mut Vec<u8>) {
        row.is_some().encode(out);
        let Some(row) = row else { return };
        let known = self.layouts.iter().position(|layout| Arc::ptr_eq(layout, row.layout()));
        (known.unwrap_or(self.layouts.len()) as u64).encode(out);
        if known.is_none() {
            row.layout().layout().encode(out);
            self.layouts.push(Arc::clone(row.layout()));
        }
        put_bytes(row.as_bytes(), out);
    }
}

/// Layouts that were read, so that rows of one layout share it.
#[derive(Debug, Default)]
pub struct Layouts(BTreeMap<Vec<u8>, Arc<RowLayout>>);

/// Reads the rows of a command or block.
#[derive(Debug)]
pub struct RowReader<'a> {
    known: &'a mut Layouts,
    layouts: Vec<Arc<RowLayout>>,
}

impl<'a> RowReader<'a> {
    /// Begins to read a command or block.
    pub fn new(known: &'a mut Layouts) -> Self {
        Self { known, layouts: Vec::new() }
    }

    /// Reads a row.
    ///
    /// # Errors
    /// [`Malformed`] bytes, also of values.
    pub fn take(&mut self, from: &mut Source<'_>) -> Result<Option<Row>, Malformed> {
        if !bool::decode(from)? {
            return Ok(None);
        }
        let number = usize::try_from(u64::decode(from)?);
        let number = number.map_err(|_| Malformed("a layout is unknown"))?;
        if number == self.layouts.len() {
            let layout = Layout::decode(from)?;
            let form = stable::encode(&layout);
            let shared = self.known.0.entry(form).or_insert_with(|| RowLayout::new(layout.into()));
            self.layouts.push(Arc::clone(shared));
        }
        let layout = self.layouts.get(number).ok_or(Malformed("a layout is unknown"))?;
        let row = Row::of_bytes(layout, take_bytes(from)?);
        row.ok_or(Malformed("a row does not have the form of its layout")).map(Some)
    }
}

/// Names are left out.
impl Stable for Layout {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.columns.len() as u64).encode(out);
        for column in &self.columns {
            column.id.encode(out);
            column.data_type.encode(out);
        }
        self.key.iter().map(|at| *at as u64).collect::<Vec<_>>().encode(out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let count = u64::decode(from)?;
        let mut columns = Vec::new();
        for _ in 0..count {
            let (id, data_type) = (ColumnId::decode(from)?, Stable::decode(from)?);
            columns.push(LayoutColumn { id, name: String::new(), data_type });
        }
        let position = |at: u64| {
            let inside = usize::try_from(at).ok().filter(|at| *at < columns.len());
            inside.ok_or(Malformed("a key column is unknown"))
        };
        let key = Vec::<u64>::decode(from)?;
        let key = key.into_iter().map(position).collect::<Result<_, _>>()?;
        Ok(Self { columns, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tables::{every_type, keyed, rows};
    use crate::{RowEncoder, decode_column};

    fn encoded(table: &catalog::Table, batch: &arrow::array::RecordBatch) -> Vec<Row> {
        let layout = RowLayout::new(Layout::of(table));
        let encoder = RowEncoder::new(&layout, batch.columns());
        (0..batch.num_rows()).map(|row| encoder.encode(row).expect("encoded")).collect()
    }

    /// The bytes of the form. They must not change.
    #[test]
    fn rows_have_their_bytes() {
        let two = encoded(&keyed("t"), &rows(&[(1, "ab"), (2, "c")]));
        let (mut writer, mut bytes) = (RowWriter::default(), Vec::new());
        writer.put(Some(&two[0]), &mut bytes);
        writer.put(None, &mut bytes);
        writer.put(Some(&two[1]), &mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let first = "0100".to_owned()
            + "02"
            + "0004"
            + "0108"
            + "0100"
            + "13"
            + "00"
            + "0100000000000000"
            + "1100000002000000"
            + "6162";
        let second =
            "0100".to_owned() + "12" + "00" + "0200000000000000" + "1100000001000000" + "63";
        assert_eq!(hex, first + "00" + &second);
    }

    #[test]
    fn rows_of_every_type_are_read_back_and_share_their_layout() {
        let (table, batch) = every_type();
        let rows = encoded(&table, &batch);
        let (mut writer, mut bytes) = (RowWriter::default(), Vec::new());
        rows.iter().for_each(|row| writer.put(Some(row), &mut bytes));
        let mut known = Layouts::default();
        let mut read = || -> Vec<Row> {
            let mut reader = RowReader::new(&mut known);
            let mut source = Source::new(&bytes);
            let row = |_| reader.take(&mut source).expect("read").expect("a row");
            rows.iter().map(row).collect()
        };
        let (once, twice) = (read(), read());
        assert!(Arc::ptr_eq(once[0].layout(), twice[1].layout()));
        let once: Vec<&Row> = once.iter().collect();
        for column in 0..batch.num_columns() {
            let back = decode_column(&once, &table, column).expect("decoded");
            assert_eq!(&back, batch.column(column), "column {column}");
        }
    }

    #[test]
    fn damaged_rows_are_refused_or_can_be_decoded() {
        let (table, batch) = every_type();
        let rows = encoded(&table, &batch);
        let (mut writer, mut bytes) = (RowWriter::default(), Vec::new());
        writer.put(Some(&rows[0]), &mut bytes);
        let check = |bytes: &[u8]| {
            let mut known = Layouts::default();
            let Ok(Some(row)) = RowReader::new(&mut known).take(&mut Source::new(bytes)) else {
                return;
            };
            for index in 0..table.columns.len() {
                let _ = decode_column(&[&row], &table, index);
            }
        };
        (0..bytes.len()).for_each(|length| check(&bytes[..length]));
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            check(&bytes);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
