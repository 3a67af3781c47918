//! Values of a column as bytes of keys, row by row.

use super::intervals;
use crate::Error;
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryViewArray, BooleanArray, Float32Array,
    Float64Array, IntervalMonthDayNanoArray, LargeBinaryArray, ListArray, StringViewArray,
};
use arrow::buffer::Buffer;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type,
    Int64Type, IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType,
};
use numerics::Numeric;
use sdds::encoding;
use std::cmp::Ordering;

/// Ends an array: an array comes before those that it begins.
pub(super) const END_OF_ITEMS: u8 = 0;
/// Begins an item of an array.
pub(super) const ITEM: u8 = 1;
/// An item that is NULL, which comes after all others.
pub(super) const NULL_ITEM: u8 = 2;

/// Width of the widest integer-like type in bytes.
const WIDEST: usize = 16;

/// The values of a column, prepared for access by row.
#[derive(Debug)]
pub(super) enum Source {
    Boolean(BooleanArray),
    /// Little-endian integers of this width in bytes.
    Integer(Buffer, usize),
    Float32(Float32Array),
    Float64(Float64Array),
    Text(StringViewArray),
    Bytes(BinaryViewArray),
    Numbers(LargeBinaryArray),
    Intervals(IntervalMonthDayNanoArray),
    /// Arrays, and the items of all.
    Lists(ListArray, Box<Source>),
}

/// Returns the width of a type whose order is that of two's complement integers, in bytes.
pub(super) fn integer_width(data_type: &DataType) -> Option<usize> {
    match data_type {
        DataType::Int16 => Some(2),
        DataType::Int32 | DataType::Date32 => Some(4),
        DataType::Int64
        | DataType::Timestamp(TimeUnit::Microsecond, _)
        | DataType::Time64(TimeUnit::Microsecond) => Some(8),
        DataType::Decimal128(_, _) => Some(16),
        _ => None,
    }
}

/// The values of a type whose order is that of two's complement integers, and their width in bytes. `None` of others.
fn integers(array: &ArrayRef) -> Option<(Buffer, usize)> {
    fn of<T: ArrowPrimitiveType>(array: &ArrayRef) -> Option<(Buffer, usize)> {
        let values = array.as_primitive_opt::<T>()?.values();
        Some((values.inner().clone(), size_of::<T::Native>()))
    }
    match array.data_type() {
        DataType::Int16 => of::<Int16Type>(array),
        DataType::Int32 => of::<Int32Type>(array),
        DataType::Date32 => of::<Date32Type>(array),
        DataType::Int64 => of::<Int64Type>(array),
        DataType::Timestamp(TimeUnit::Microsecond, _) => of::<TimestampMicrosecondType>(array),
        DataType::Time64(TimeUnit::Microsecond) => of::<Time64MicrosecondType>(array),
        DataType::Decimal128(_, _) => of::<Decimal128Type>(array),
        _ => None,
    }
}

/// A value of little-endian integers as a big-endian one.
fn big_endian<'b>(
    buffer: &Buffer,
    width: usize,
    row: usize,
    big: &'b mut [u8; WIDEST],
) -> &'b mut [u8] {
    let big = &mut big[..width];
    big.copy_from_slice(&buffer.as_slice()[row * width..(row + 1) * width]);
    big.reverse();
    big
}

/// Whether a column of this type can be part of a key.
pub fn is_key_type(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) => !item.data_type().is_nested() && is_key_type(item.data_type()),
        other => {
            integer_width(other).is_some()
                || matches!(
                    other,
                    DataType::Boolean
                        | DataType::Float32
                        | DataType::Float64
                        | DataType::Utf8View
                        | DataType::BinaryView
                        | DataType::LargeBinary
                        | DataType::Interval(IntervalUnit::MonthDayNano)
                )
        }
    }
}

impl Source {
    pub(super) fn new(array: &ArrayRef) -> Result<Self, Error> {
        let data_type = array.data_type();
        if let Some((buffer, width)) = integers(array) {
            return Ok(Self::Integer(buffer, width));
        }
        Ok(match data_type {
            DataType::Boolean => Self::Boolean(array.as_boolean().clone()),
            DataType::Float32 => Self::Float32(array.as_primitive::<Float32Type>().clone()),
            DataType::Float64 => Self::Float64(array.as_primitive::<Float64Type>().clone()),
            DataType::Utf8View => Self::Text(array.as_string_view().clone()),
            DataType::BinaryView => Self::Bytes(array.as_binary_view().clone()),
            DataType::LargeBinary => Self::Numbers(array.as_binary::<i64>().clone()),
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                Self::Intervals(array.as_primitive::<IntervalMonthDayNanoType>().clone())
            }
            list @ DataType::List(_) if is_key_type(list) => {
                let lists = array.as_list::<i32>();
                Self::Lists(lists.clone(), Box::new(Self::new(lists.values())?))
            }
            other => return Err(Error::KeyType { data_type: other.to_string() }),
        })
    }

    /// How the encoded value of a row compares with bytes. `None` if that is not known without encoding it.
    pub(super) fn compare(&self, row: usize, bytes: &[u8]) -> Option<Ordering> {
        match self {
            Self::Integer(buffer, width) => {
                let mut big = [0; WIDEST];
                let big = big_endian(buffer, *width, row, &mut big);
                big[0] ^= 0x80;
                Some((*big).cmp(bytes))
            }
            Self::Text(values) => {
                Some(encoding::compare_bytes(values.value(row).as_bytes(), bytes))
            }
            Self::Bytes(values) => Some(encoding::compare_bytes(values.value(row), bytes)),
            _ => None,
        }
    }

    pub(super) fn encode(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Boolean(values) => encoding::boolean(values.value(row), out),
            Self::Integer(buffer, width) => {
                encoding::integer(big_endian(buffer, *width, row, &mut [0; WIDEST]), out);
            }
            Self::Float32(values) => encoding::float32(values.value(row), out),
            Self::Float64(values) => encoding::float64(values.value(row), out),
            Self::Text(values) => encoding::bytes(values.value(row).as_bytes(), out),
            Self::Bytes(values) => encoding::bytes(values.value(row), out),
            Self::Numbers(values) => out.extend_from_slice(Numeric::key_of(values.value(row))),
            Self::Intervals(values) => intervals::encode(values.value(row), out),
            Self::Lists(lists, items) => {
                let offsets = lists.value_offsets();
                for item in offsets[row] as usize..offsets[row + 1] as usize {
                    if lists.values().is_null(item) {
                        out.push(NULL_ITEM);
                        continue;
                    }
                    out.push(ITEM);
                    items.encode(item, out);
                }
                out.push(END_OF_ITEMS);
            }
        }
    }
}
