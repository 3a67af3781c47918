//! Rows as bytes: an Arrow IPC stream.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::reader::StreamDecoder;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::common::{Result, plan_err};

/// Writes rows.
///
/// # Errors
/// If a batch does not fit the schema.
pub fn to_bytes(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?)
}

/// Reads rows and their schema. Lengths in the bytes are not trusted: no memory is allocated ahead
/// of the data.
///
/// # Errors
/// If the bytes are not such a stream.
pub fn from_bytes(bytes: &[u8]) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let mut decoder = StreamDecoder::new();
    let (mut buffer, mut batches) = (Buffer::from(bytes), Vec::new());
    while !buffer.is_empty() {
        batches.extend(decoder.decode(&mut buffer)?);
    }
    let schema = decoder.schema();
    decoder.finish()?;
    match schema {
        Some(schema) => Ok((schema, batches)),
        None => plan_err!("rows of a fragment have no columns"),
    }
}
