//! Rows as the bytes of a Parquet file, and back.

use crate::intervals::{inward, outward};
use crate::manifest::DataFile;
use crate::{Error, digest};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::sync::Arc;
use store::CHUNK_ROWS;

/// Writes batches of one schema as a Parquet file.
pub(crate) fn encode(batches: &[RecordBatch]) -> Result<Vec<u8>, Error> {
    let refused = |error: parquet::errors::ParquetError| {
        Error::Unsupported(format!("Parquet cannot hold the rows: {error}"))
    };
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("pando {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut writer: Option<ArrowWriter<Vec<u8>>> = None;
    for batch in batches {
        let batch = outside(batch).map_err(store::Error::from)?;
        let writer = match &mut writer {
            Some(writer) => writer,
            None => {
                let created =
                    ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties.clone()));
                writer.insert(created.map_err(refused)?)
            }
        };
        writer.write(&batch).map_err(refused)?;
    }
    match writer {
        Some(writer) => writer.into_inner().map_err(refused),
        None => Ok(Vec::new()),
    }
}

/// Returns a batch that Parquet can hold.
fn outside(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = batch.columns().iter().map(outward).collect();
    let fields = batch.schema_ref().fields().iter().zip(&columns);
    let field = |(field, column): (&Arc<Field>, &ArrayRef)| {
        field.as_ref().clone().with_data_type(column.data_type().clone())
    };
    let schema = Schema::new(fields.map(field).collect::<Vec<_>>());
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(schema), columns, &options)
}

/// Reads the rows of a file, after checking that it is what the backup wrote.
pub(crate) fn decode(
    file: &DataFile,
    bytes: &Bytes,
    schema: &SchemaRef,
) -> Result<Vec<RecordBatch>, Error> {
    let path = file.path();
    if bytes.len() as u64 != file.bytes || digest::of(bytes) != file.sha256 {
        return Err(Error::damaged(&path, "its checksum does not fit"));
    }
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone());
    let reader = builder.and_then(|builder| builder.with_batch_size(CHUNK_ROWS).build());
    let reader = reader.map_err(|error| Error::damaged(&path, error))?;
    let batches = reader.map(|batch| inside(&batch?, schema));
    let batches: Result<Vec<_>, ArrowError> = batches.collect();
    let batches = batches.map_err(|error| Error::damaged(&path, error))?;
    match batches.iter().map(|batch| batch.num_rows() as u64).sum::<u64>() == file.rows {
        true => Ok(batches),
        false => Err(Error::damaged(&path, "it has another number of rows")),
    }
}

/// Returns a batch with the types of the table.
fn inside(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
        Some(column) => inward(column, field.data_type()),
        None => Err(ArrowError::SchemaError(format!("it has no column \"{}\"", field.name()))),
    };
    let columns: Result<Vec<ArrayRef>, _> = schema.fields().iter().map(column).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns?, &options)
}
