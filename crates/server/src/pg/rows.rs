//! Rows as DataRow messages.

use super::backend::{Output, format_of};
use super::oid;
use bytes::BufMut;
use frontend::Format;
use query::arrow::array::{ArrayRef, RecordBatch};
use query::binary::BinaryColumn;
use query::text::TextColumn;
use query::{Error, Field};

/// The length that represents NULL.
const NULL_LENGTH: u32 = u32::MAX;

/// A column of a batch in the requested format.
enum Column<'a> {
    Text(TextColumn<'a>),
    Binary(BinaryColumn),
}

impl<'a> Column<'a> {
    fn new(array: &'a ArrayRef, field: &Field, format: Format) -> Result<Self, Error> {
        match format {
            Format::Text => Ok(Self::Text(TextColumn::of_field(array, field)?)),
            Format::Binary => {
                let item_oid = |item: &_| oid::info(item).oid;
                Ok(Self::Binary(BinaryColumn::new(array, &field.sql_type, item_oid)?))
            }
        }
    }
}

/// Writes rows of a batch until the output is full. Returns the number of rows written, at least one.
pub(crate) fn write_rows(
    out: &mut Output,
    batch: &RecordBatch,
    rows: std::ops::Range<usize>,
    fields: &[Field],
    formats: &[Format],
) -> Result<usize, Error> {
    let begin = rows.start;
    let mut columns = Vec::with_capacity(fields.len());
    for (index, (array, field)) in batch.columns().iter().zip(fields).enumerate() {
        columns.push(Column::new(array, field, format_of(formats, index))?);
    }
    let mut text = String::new();
    let count = u16::try_from(columns.len()).unwrap_or(u16::MAX);
    let mut written = begin;
    for row in rows {
        if written > begin && out.is_full() {
            break;
        }
        written += 1;
        out.message(b'D', |body| {
            body.put_u16(count);
            for column in &columns {
                let place = body.len();
                body.put_u32(NULL_LENGTH);
                let present = match column {
                    Column::Text(column) => {
                        text.clear();
                        let present = column.write(row, &mut text);
                        body.put_slice(text.as_bytes());
                        present
                    }
                    Column::Binary(column) => column.write(row, body),
                };
                if present {
                    let length = u32::try_from(body.len() - place - 4).unwrap_or(NULL_LENGTH - 1);
                    body[place..place + 4].copy_from_slice(&length.to_be_bytes());
                }
            }
        });
    }
    Ok(written - begin)
}
