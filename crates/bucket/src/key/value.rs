//! Bytes of keys as values.

use super::source::{END_OF_ITEMS, ITEM, integer_width};
use super::{document, intervals};
use arrow::array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, IntervalMonthDayNanoArray, LargeBinaryArray,
    ListArray, StringViewArray, make_array, new_empty_array, new_null_array,
};
use arrow::buffer::{Buffer, OffsetBuffer};
use arrow::compute::{cast, concat};
use arrow::datatypes::{DataType, FieldRef, IntervalUnit};
use catalog::SqlType;
use numerics::Numeric;
use std::sync::Arc;

/// The greatest scale of a number.
const SCALE_MAX: u16 = numerics::SCALE_MAX as u16;

/// The value that `rest` begins with, which becomes what follows it. Of equal values it is the plainest.
pub(super) fn decode_column(data_type: &DataType, rest: &mut &[u8]) -> Option<ArrayRef> {
    if let Some(width) = integer_width(data_type) {
        let mut little = take_bytes(rest, width)?.to_vec();
        little[0] ^= 0x80;
        little.reverse();
        return fixed(data_type, &little);
    }
    match data_type {
        DataType::Boolean => Some(Arc::new(BooleanArray::from(vec![take_bytes(rest, 1)?[0] != 0]))),
        DataType::Float32 => {
            let ordered = u32::from_be_bytes(take_bytes(rest, 4)?.try_into().ok()?);
            let bits = if ordered >> 31 == 1 { ordered & !(1 << 31) } else { !ordered };
            fixed(data_type, &bits.to_le_bytes())
        }
        DataType::Float64 => {
            let ordered = u64::from_be_bytes(take_bytes(rest, 8)?.try_into().ok()?);
            let bits = if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered };
            fixed(data_type, &bits.to_le_bytes())
        }
        DataType::Utf8View | DataType::BinaryView => {
            let bytes = decode_bytes(rest)?;
            let binary: ArrayRef = Arc::new(BinaryViewArray::from_iter_values([bytes]));
            cast(&binary, data_type).ok()
        }
        DataType::LargeBinary => {
            let mut bytes = take_bytes(rest, Numeric::key_length(rest)?)?.to_vec();
            // The scale is not part of the key: as many digits as the number has.
            bytes.extend(SCALE_MAX.to_be_bytes());
            let number = Numeric::decode(&bytes).ok()?.trim_scale();
            bytes.clear();
            number.encode(&mut bytes);
            Some(Arc::new(LargeBinaryArray::from_iter_values([bytes])))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let length = take_bytes(rest, intervals::WIDTH)?.try_into().ok()?;
            Some(Arc::new(IntervalMonthDayNanoArray::from(vec![intervals::decode(length)])))
        }
        DataType::List(item) => list(item, rest),
        _ => None,
    }
}

/// As [`decode_column`], the value of an entry of an index.
pub(super) fn decode_entered(sql_type: &SqlType, rest: &mut &[u8]) -> Option<ArrayRef> {
    if *sql_type.representation() != SqlType::Jsonb {
        return decode_column(&sql_type.arrow(), rest);
    }
    let text = document::text(&decode_bytes(rest)?)?;
    Some(Arc::new(StringViewArray::from_iter_values([text])))
}

fn list(item: &FieldRef, rest: &mut &[u8]) -> Option<ArrayRef> {
    let mut items = Vec::new();
    loop {
        items.push(match take_bytes(rest, 1)?[0] {
            END_OF_ITEMS => break,
            ITEM => decode_column(item.data_type(), rest)?,
            _ => new_null_array(item.data_type(), 1),
        });
    }
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    let items: Vec<&dyn Array> = items.iter().map(AsRef::as_ref).collect();
    let values = match items.is_empty() {
        true => new_empty_array(item.data_type()),
        false => concat(&items).ok()?,
    };
    Some(Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, None).ok()?))
}

fn take_bytes<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

/// The bytes of a text or of `bytea` that `rest` begins with.
pub(super) fn decode_bytes(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        match take_bytes(rest, 1)?[0] {
            0 => match take_bytes(rest, 1)?[0] {
                0 => return Some(bytes),
                _ => bytes.push(0),
            },
            byte => bytes.push(byte),
        }
    }
}

fn fixed(data_type: &DataType, little: &[u8]) -> Option<ArrayRef> {
    let data = arrow::array::ArrayData::builder(data_type.clone())
        .len(1)
        .add_buffer(Buffer::from(little))
        .align_buffers(true)
        .build()
        .ok()?;
    Some(make_array(data))
}
