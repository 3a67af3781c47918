//! `#[serde(with = ...)]` modules for Arrow values, as Arrow IPC streams, and for shared values.

use crate::ipc::{malformed, read, write};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use std::sync::Arc;

pub(crate) fn one_column(data_type: &DataType) -> Schema {
    Schema::new(vec![Field::new("", data_type.clone(), true)])
}

pub(crate) fn only_type(schema: &Schema) -> Result<DataType, ArrowError> {
    match &schema.fields()[..] {
        [field] => Ok(field.data_type().clone()),
        _ => Err(malformed("it does not have one column")),
    }
}

/// An Arrow type.
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

/// An optional array of length 1.
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
            _ => Err(de::Error::custom("expected one value")),
        }
    }
}

/// The value behind an [`Arc`].
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
