//! Serialization of Arrow data as Arrow IPC streams.

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::StreamWriter;
use bytes::Bytes;

/// Writes rows as an Arrow IPC stream.
///
/// # Errors
/// Types that IPC does not support.
pub fn write(schema: &Schema, batches: &[RecordBatch]) -> Result<Vec<u8>, ArrowError> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.into_inner()
}

/// Reads an Arrow IPC stream from another server. `check` receives the schema before rows are
/// decoded. Memory is never allocated by a length declared in the stream.
///
/// # Errors
/// Those of `check`, and [`malformed`] streams.
pub fn read<T, E: From<ArrowError>>(
    bytes: Bytes,
    check: impl Fn(&Schema) -> Result<T, E>,
) -> Result<(T, Vec<RecordBatch>), E> {
    // The decoder panics on some malformed streams.
    let read = std::panic::AssertUnwindSafe(|| try_read(bytes, check));
    std::panic::catch_unwind(read).unwrap_or_else(|_| Err(malformed("it cannot be decoded").into()))
}

/// Length of the end-of-stream marker. Every message is longer.
const END_BYTES: usize = 8;

fn try_read<T, E: From<ArrowError>>(
    bytes: Bytes,
    check: impl Fn(&Schema) -> Result<T, E>,
) -> Result<(T, Vec<RecordBatch>), E> {
    let mut rest = Buffer::from(bytes);
    let mut decoder = StreamDecoder::new();
    let mut batches = Vec::new();
    let mut checked = None;
    let mut has_end = false;
    while !rest.is_empty() {
        let length = message_bytes(&rest)?;
        has_end = length <= END_BYTES;
        let mut message = rest.slice_with_length(0, length);
        rest.advance(length);
        if let Some(batch) = decoder.decode(&mut message)? {
            batches.push(batch);
        }
        if checked.is_none()
            && let Some(schema) = decoder.schema()
        {
            checked = Some(check(&schema)?);
        }
    }
    decoder.finish()?;
    if !has_end {
        return Err(malformed("it ends early").into());
    }
    let checked = checked.ok_or_else(|| malformed("it has no schema"))?;
    Ok((checked, batches))
}

/// Returns the length of the next message and its body, which is within `rest`.
fn message_bytes(rest: &[u8]) -> Result<usize, ArrowError> {
    let short = || malformed("it ends early");
    let word = |at: usize| -> Result<u32, ArrowError> {
        let bytes = rest.get(at..at + 4).ok_or_else(short)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let marker = if word(0)? == u32::MAX { 4 } else { 0 };
    let size = word(marker)? as usize;
    if size == 0 {
        return Ok(marker + 4);
    }
    let header = rest.get(marker + 4..).and_then(|rest| rest.get(..size)).ok_or_else(short)?;
    let message =
        arrow::ipc::root_as_message(header).map_err(|error| malformed(&error.to_string()))?;
    let body = usize::try_from(message.bodyLength()).map_err(|_| short())?;
    let length = (marker + 4 + size).checked_add(body).filter(|length| *length <= rest.len());
    length.ok_or_else(short)
}

/// The error of bytes that do not have the expected form.
pub fn malformed(reason: &str) -> ArrowError {
    ArrowError::IpcError(format!("malformed bytes from another server: {reason}"))
}
