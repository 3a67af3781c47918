//! Arrow types and values.
//!
//! Types that columns commonly have are an ordinal. All others, and values, are Arrow IPC streams,
//! whose format is stable.

use super::{Malformed, Source, Stable, put_bytes, take_bytes};
use crate::arrow_serde::{one_column, only_type};
use crate::ipc;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use std::sync::Arc;

const UNREADABLE: Malformed = Malformed("an Arrow IPC stream cannot be read");

/// The ordinal of types that are written as a stream.
const STREAM: u8 = 0;
const DECIMAL: u8 = 7;
const LIST: u8 = 15;

/// Types that are nothing but their ordinal.
const PLAIN: [(u8, DataType); 13] = [
    (1, DataType::Boolean),
    (2, DataType::Int16),
    (3, DataType::Int32),
    (4, DataType::Int64),
    (5, DataType::Float32),
    (6, DataType::Float64),
    (8, DataType::Utf8View),
    (9, DataType::BinaryView),
    (10, DataType::Date32),
    (11, DataType::Time64(TimeUnit::Microsecond)),
    (12, DataType::Timestamp(TimeUnit::Microsecond, None)),
    (14, DataType::Interval(IntervalUnit::MonthDayNano)),
    (16, DataType::LargeBinary),
];

/// The ordinal of timestamps with the time zone that all of them have.
const ZONED: u8 = 13;
const ZONE: &str = "+00:00";

impl Stable for DataType {
    fn encode(&self, out: &mut Vec<u8>) {
        if let Some((ordinal, _)) = PLAIN.iter().find(|(_, plain)| plain == self) {
            return out.push(*ordinal);
        }
        match self {
            Self::Decimal128(precision, scale) => {
                out.extend([DECIMAL, *precision, scale.cast_unsigned()]);
            }
            Self::Timestamp(TimeUnit::Microsecond, Some(zone)) if **zone == *ZONE => {
                out.push(ZONED);
            }
            Self::List(item) if **item == Field::new_list_field(item.data_type().clone(), true) => {
                out.push(LIST);
                item.data_type().encode(out);
            }
            other => {
                out.push(STREAM);
                let stream = ipc::write(&one_column(other), &[]);
                put_bytes(&stream.expect("every Arrow type can be written as IPC"), out);
            }
        }
    }

    fn decode(from: &mut Source<'_>) -> Result<Self, Malformed> {
        let ordinal = u8::decode(from)?;
        if let Some((_, plain)) = PLAIN.iter().find(|(plain, _)| *plain == ordinal) {
            return Ok(plain.clone());
        }
        match ordinal {
            DECIMAL => Ok(Self::Decimal128(u8::decode(from)?, i8::decode(from)?)),
            ZONED => Ok(Self::Timestamp(TimeUnit::Microsecond, Some(ZONE.into()))),
            LIST => Ok(Self::List(Arc::new(Field::new_list_field(from.nested()?, true)))),
            STREAM => {
                let bytes = take_bytes(from)?.to_vec();
                let (data_type, _) = ipc::read(bytes.into(), only_type).map_err(|_| UNREADABLE)?;
                Ok(data_type)
            }
            _ => Err(Malformed("an Arrow type is unknown")),
        }
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
