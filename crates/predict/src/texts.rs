//! Lengths of the strings of a table: measured in a sample of its rows, or an equal share of the
//! bytes of a row.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Fields, Schema, SchemaRef};
use scan::bucket_scan::Piece;
use scan::estimate::{Column, copied_row_bytes, fixed_bytes};
use std::sync::Arc;
use store::catalog::SqlType;
use values::Result;
use values::types;

/// Pieces of the sample, spread over the table.
const PIECES: usize = 8;

/// Sets the bytes of columns of variable width: measured for strings, an equal share of the rest of
/// `row_bytes`, the bytes of a row in memory, for the others.
pub(super) fn learn(
    columns: &mut [Column],
    schema: &SchemaRef,
    pieces: &[Piece],
    row_bytes: f64,
) -> Result<()> {
    let is_text = |index: &usize| {
        matches!(schema.field(*index).data_type(), DataType::Utf8View | DataType::BinaryView)
    };
    let texts: Vec<usize> = (0..columns.len()).filter(is_text).collect();
    let counted = counted(&texts, schema, pieces)?;
    for (index, bytes) in texts.iter().zip(&counted) {
        columns[*index].bytes = *bytes;
    }
    let is_open = |index: &usize| {
        let is_known = !counted.is_empty() && texts.contains(index);
        fixed_bytes(schema.field(*index).data_type()).is_none() && !is_known
    };
    let (open, known): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_open);
    let known: Vec<Column> = known.into_iter().map(|index| columns[index]).collect();
    share_out(columns, open, schema.fields(), row_bytes - copied_row_bytes(&known));
    Ok(())
}

/// The average bytes of values of some columns; empty without rows.
fn counted(texts: &[usize], schema: &Schema, pieces: &[Piece]) -> Result<Vec<f64>> {
    let read = Arc::new(schema.project(texts)?);
    let mut bytes = vec![0; texts.len()];
    let mut rows = 0;
    let count = pieces.len().min(PIECES);
    for nth in 0..count {
        let piece = &pieces[nth * pieces.len() / count];
        let batch = piece.morsel.read(texts, &read)?;
        rows += batch.num_rows();
        for (bytes, column) in bytes.iter_mut().zip(batch.columns()) {
            *bytes += bytes_of(column);
        }
    }
    let mean = |bytes: usize| bytes as f64 / rows as f64;
    Ok(if rows == 0 { Vec::new() } else { bytes.into_iter().map(mean).collect() })
}

/// Bytes of all strings of a column.
fn bytes_of(column: &ArrayRef) -> usize {
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().iter().flatten().map(str::len).sum(),
        _ => column.as_binary_view().iter().flatten().map(<[u8]>::len).sum(),
    }
}

/// Gives each of the `open` columns an equal share of the bytes, at most as many as its type
/// allows.
fn share_out(columns: &mut [Column], mut open: Vec<usize>, fields: &Fields, bytes: f64) {
    let most = |index: &usize| match types::of_field(&fields[*index]) {
        SqlType::Char(length) | SqlType::Varchar(Some(length)) => f64::from(length),
        _ => f64::INFINITY,
    };
    open.sort_by(|one, other| most(one).total_cmp(&most(other)));
    let mut left = bytes;
    for (given, index) in open.iter().enumerate() {
        let share = (left / (open.len() - given) as f64).min(most(index));
        if share >= 1.0 {
            columns[*index].bytes = share.round();
        }
        left -= share;
    }
}
