//! Arrow types and values, as Arrow IPC streams: their format is stable.
//!
//! Types that columns commonly have do not come here: they have ordinals ([`crate::SqlType`]).

use super::{Malformed, Source, Stable, put_bytes, take_bytes};
use crate::arrow_serde::{one_column, only_type};
use crate::ipc;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::DataType;
use std::sync::Arc;

const UNREADABLE: Malformed = Malformed("an Arrow IPC stream cannot be read");

impl Stable for DataType {
    fn encode(&self, out: &mut Vec<u8>) {
        let stream = ipc::write(&one_column(self), &[]);
        put_bytes(&stream.expect("every Arrow type can be written as IPC"), out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let bytes = take_bytes(from)?.to_vec();
        let (data_type, _) = ipc::read(bytes.into(), only_type).map_err(|_| UNREADABLE)?;
        Ok(data_type)
    }
}

/// A single value: an array of length 1.
impl Stable for ArrayRef {
    fn encode(&self, out: &mut Vec<u8>) {
        let schema = Arc::new(one_column(self.data_type()));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::clone(self)]);
        let stream = batch.and_then(|batch| ipc::write(&schema, &[batch]));
        put_bytes(&stream.expect("an array fits its own type"), out);
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let bytes = take_bytes(from)?.to_vec();
        let (_, batches) = ipc::read(bytes.into(), only_type).map_err(|_| UNREADABLE)?;
        match &batches[..] {
            [batch] if batch.num_rows() == 1 => Ok(Arc::clone(batch.column(0))),
            _ => Err(Malformed("a value is not one value")),
        }
    }
}
