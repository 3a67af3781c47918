//! How values that serde does not know go between servers: Arrow's as Arrow IPC, shared ones as what they point to.

use crate::Error;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::StreamWriter;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::sync::Arc;

/// Rows as an Arrow IPC stream.
///
/// # Errors
/// [`Error::Arrow`] for types that IPC has no form for.
pub(crate) fn write(schema: &Schema, batches: &[RecordBatch]) -> Result<Vec<u8>, Error> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    Ok(writer.into_inner()?)
}

/// Reads an Arrow IPC stream from another server. `check` sees its schema before any rows are decoded under it. Nothing
/// is allocated from a declared length.
///
/// # Errors
/// What `check` refuses, and [`Error::Arrow`] for a stream that is malformed.
pub(crate) fn read<T>(
    bytes: Bytes,
    check: impl Fn(&Schema) -> Result<T, Error>,
) -> Result<(T, Vec<RecordBatch>), Error> {
    // The decoder checks most of what it reads, but not all: what it stumbles over is malformed.
    let read = std::panic::AssertUnwindSafe(|| try_read(bytes, check));
    std::panic::catch_unwind(read).unwrap_or_else(|_| Err(malformed("it cannot be decoded")))
}

/// The mark of the stream's end; messages are longer.
const END_BYTES: usize = 8;

fn try_read<T>(
    bytes: Bytes,
    check: impl Fn(&Schema) -> Result<T, Error>,
) -> Result<(T, Vec<RecordBatch>), Error> {
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
        return Err(malformed("it ends early"));
    }
    let checked = checked.ok_or_else(|| malformed("it has no schema"))?;
    Ok((checked, batches))
}

/// Bytes of the stream's next message with its body, all of which are there.
fn message_bytes(rest: &[u8]) -> Result<usize, Error> {
    let short = || malformed("it ends early");
    let word = |at: usize| -> Result<u32, Error> {
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

/// The error of bytes that no server of ours has sent.
pub(crate) fn malformed(reason: &str) -> Error {
    Error::Arrow(ArrowError::IpcError(format!("malformed bytes from another server: {reason}")))
}

fn one_column(data_type: &DataType) -> Schema {
    Schema::new(vec![Field::new("", data_type.clone(), true)])
}

fn only_type(schema: &Schema) -> Result<DataType, Error> {
    match &schema.fields()[..] {
        [field] => Ok(field.data_type().clone()),
        _ => Err(malformed("it has not one column")),
    }
}

/// A type of Arrow.
pub(crate) mod data_type {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(of: &DataType, to: S) -> Result<S::Ok, S::Error> {
        write(&one_column(of), &[]).map_err(ser::Error::custom)?.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<DataType, D::Error> {
        let bytes = Vec::<u8>::deserialize(from)?;
        let (data_type, _) = read(bytes.into(), only_type).map_err(de::Error::custom)?;
        Ok(data_type)
    }
}

/// One value as an array, or none.
pub(crate) mod value {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        of: &Option<ArrayRef>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let encode = |array: &ArrayRef| {
            let schema = one_column(array.data_type());
            let batch = RecordBatch::try_new(Arc::new(schema.clone()), vec![Arc::clone(array)])?;
            write(&schema, &[batch])
        };
        of.as_ref().map(encode).transpose().map_err(ser::Error::custom)?.serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<ArrayRef>, D::Error> {
        let Some(bytes) = Option::<Vec<u8>>::deserialize(from)? else { return Ok(None) };
        let (_, batches) = read(bytes.into(), only_type).map_err(de::Error::custom)?;
        match &batches[..] {
            [batch] if batch.num_rows() == 1 => Ok(Some(Arc::clone(batch.column(0)))),
            _ => Err(de::Error::custom("not one value")),
        }
    }
}

/// What an [`Arc`] points to.
pub(crate) mod shared {
    use super::*;

    pub(crate) fn serialize<T: Serialize, S: Serializer>(
        of: &Arc<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(of, to)
    }

    pub(crate) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

/// An error of Arrow, of which the message arrives.
pub(crate) mod arrow_error {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(of: &ArrowError, to: S) -> Result<S::Ok, S::Error> {
        match of {
            ArrowError::ComputeError(message) => message.serialize(to),
            other => other.to_string().serialize(to),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ArrowError, D::Error> {
        String::deserialize(from).map(ArrowError::ComputeError)
    }
}
