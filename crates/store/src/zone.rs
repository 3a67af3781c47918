//! Zone maps: the least and greatest value of each column of a chunk, and how many NULLs.
//!
//! Values are kept in a few normal forms, so that zones of a chunk cost tens of bytes; [`to_array`]
//! gives them back as arrays of the column's type for whoever compares them with a predicate.

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Float32Array, Float64Array,
    PrimitiveArray, StringViewArray, new_null_array,
};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type,
    Int32Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use std::cmp::Ordering;
use std::sync::Arc;

/// Text and bytes are cut to this many bytes.
const TEXT_BYTES_MAX: usize = 48;

/// What is known of one column's values in a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// How many are NULL.
    pub nulls: u64,
    /// No value is less; `None` where all are NULL.
    pub min: Option<ZoneValue>,
    /// No value is greater; `None` where all are NULL or the bound is not known.
    pub max: Option<ZoneValue>,
    /// Whether `min` and `max` are values of the chunk rather than bounds.
    pub exact: bool,
}

/// A value in its normal form. Values of one column have one form and compare.
#[derive(Debug, Clone, PartialEq)]
pub enum ZoneValue {
    /// Integers, booleans, dates, times, timestamps, and decimals without their point.
    Int(i128),
    /// Floating point.
    Float(f64),
    /// Text and bytes.
    Bytes(Box<[u8]>),
}

impl PartialOrd for ZoneValue {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Some(a.cmp(b)),
            (Self::Float(a), Self::Float(b)) => Some(a.total_cmp(b)),
            (Self::Bytes(a), Self::Bytes(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// The zone of an array; `None` for types that have no order here.
pub(crate) fn of_array(array: &dyn Array) -> Option<Zone> {
    let nulls = array.null_count() as u64;
    let ints = |bounds: Option<(i128, i128)>| {
        let (min, max) = bounds.unzip();
        Some(Zone {
            nulls,
            min: min.map(ZoneValue::Int),
            max: max.map(ZoneValue::Int),
            exact: true,
        })
    };
    match array.data_type() {
        DataType::Boolean => ints(bounds(array.as_boolean().iter().flatten().map(i128::from))),
        DataType::Int16 => ints(primitive_bounds::<Int16Type>(array)),
        DataType::Int32 => ints(primitive_bounds::<Int32Type>(array)),
        DataType::Int64 => ints(primitive_bounds::<Int64Type>(array)),
        DataType::Date32 => ints(primitive_bounds::<Date32Type>(array)),
        DataType::Time64(TimeUnit::Microsecond) => {
            ints(primitive_bounds::<Time64MicrosecondType>(array))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            ints(primitive_bounds::<TimestampMicrosecondType>(array))
        }
        DataType::Decimal128(_, _) => ints(primitive_bounds::<Decimal128Type>(array)),
        DataType::Float32 => {
            float_zone(nulls, array.as_primitive::<Float32Type>().iter().flatten().map(f64::from))
        }
        DataType::Float64 => {
            float_zone(nulls, array.as_primitive::<Float64Type>().iter().flatten())
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            let (min, max) = bounds(values.iter().flatten().map(str::as_bytes)).unzip();
            Some(bytes_zone(nulls, min, max, true))
        }
        DataType::BinaryView => {
            let (min, max) = bounds(array.as_binary_view().iter().flatten()).unzip();
            Some(bytes_zone(nulls, min, max, false))
        }
        _ => None,
    }
}

fn bounds<T: PartialOrd + Copy>(mut values: impl Iterator<Item = T>) -> Option<(T, T)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(min, max), value| {
        (if value < min { value } else { min }, if value > max { value } else { max })
    }))
}

fn primitive_bounds<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<(i128, i128)>
where
    T::Native: PartialOrd + Into<i128>,
{
    let array = array.as_primitive::<T>();
    let (min, max) = match array.null_count() {
        0 => bounds(array.values().iter().copied())?,
        _ => bounds(array.iter().flatten())?,
    };
    Some((min.into(), max.into()))
}

/// NaN is above everything, as in the order of keys and sorts; then there is no finite upper bound. The
/// zeros are two values, as for the engine: -0 is below 0.
fn float_zone(nulls: u64, values: impl Iterator<Item = f64>) -> Option<Zone> {
    let mut bounds: Option<(f64, f64)> = None;
    for value in values {
        if value.is_nan() {
            return None;
        }
        let (min, max) = bounds.unwrap_or((value, value));
        let min = if value.total_cmp(&min).is_lt() { value } else { min };
        bounds = Some((min, if value.total_cmp(&max).is_gt() { value } else { max }));
    }
    let (min, max) = bounds.unzip();
    let (min, max) = (min.map(ZoneValue::Float), max.map(ZoneValue::Float));
    Some(Zone { nulls, min, max, exact: true })
}

fn bytes_zone(nulls: u64, min: Option<&[u8]>, max: Option<&[u8]>, text: bool) -> Zone {
    let short = |value: Option<&[u8]>| value.is_none_or(|v| v.len() <= TEXT_BYTES_MAX);
    let exact = short(min) && short(max);
    let bytes = |value: Vec<u8>| ZoneValue::Bytes(value.into());
    let min = min.map(|value| bytes(cut(value, text).to_vec()));
    let max = max.and_then(|value| match value.len() <= TEXT_BYTES_MAX {
        true => Some(value.to_vec()),
        false => above(cut(value, text), text),
    });
    Zone { nulls, min, max: max.map(bytes), exact }
}

/// The first bytes of a value, not more than the limit, whole characters of a text.
fn cut(value: &[u8], text: bool) -> &[u8] {
    let mut end = value.len().min(TEXT_BYTES_MAX);
    while text && end < value.len() && value[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &value[..end]
}

/// A short value above everything that begins with the prefix.
fn above(prefix: &[u8], text: bool) -> Option<Vec<u8>> {
    if !text {
        let last = prefix.iter().rposition(|byte| *byte < u8::MAX)?;
        let mut bytes = prefix[..=last].to_vec();
        bytes[last] += 1;
        return Some(bytes);
    }
    let mut characters: Vec<char> = std::str::from_utf8(prefix).ok()?.chars().collect();
    while let Some(last) = characters.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            characters.push(next);
            return Some(characters.into_iter().collect::<String>().into_bytes());
        }
    }
    None
}

/// Zone values as an array of the column's type; NULL where a value is not known.
pub fn to_array<'a>(
    data_type: DataType,
    values: impl Iterator<Item = Option<&'a ZoneValue>>,
) -> ArrayRef {
    let values: Vec<Option<&ZoneValue>> = values.collect();
    let int = |value: &Option<&ZoneValue>| match value {
        Some(ZoneValue::Int(value)) => Some(*value),
        _ => None,
    };
    let float = |value: &Option<&ZoneValue>| match value {
        Some(ZoneValue::Float(value)) => Some(*value),
        _ => None,
    };
    let ints = || values.iter().map(int);
    let wide = || ints().map(|v| v.map(|v| v as i64));
    match &data_type {
        DataType::Boolean => Arc::new(ints().map(|v| v.map(|v| v != 0)).collect::<BooleanArray>()),
        DataType::Int16 => array_of::<Int16Type>(ints().map(|v| v.map(|v| v as i16)), &data_type),
        DataType::Int32 => array_of::<Int32Type>(ints().map(|v| v.map(|v| v as i32)), &data_type),
        DataType::Date32 => array_of::<Date32Type>(ints().map(|v| v.map(|v| v as i32)), &data_type),
        DataType::Int64 => array_of::<Int64Type>(wide(), &data_type),
        DataType::Time64(_) => array_of::<Time64MicrosecondType>(wide(), &data_type),
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            array_of::<TimestampMicrosecondType>(wide(), &data_type)
        }
        DataType::Decimal128(_, _) => array_of::<Decimal128Type>(ints(), &data_type),
        DataType::Float32 => Arc::new(
            values.iter().map(float).map(|v| v.map(|v| v as f32)).collect::<Float32Array>(),
        ),
        DataType::Float64 => Arc::new(values.iter().map(float).collect::<Float64Array>()),
        DataType::Utf8View | DataType::BinaryView => bytes_array(&values, &data_type),
        _ => new_null_array(&data_type, values.len()),
    }
}

fn array_of<T: ArrowPrimitiveType>(
    values: impl Iterator<Item = Option<T::Native>>,
    data_type: &DataType,
) -> ArrayRef {
    let values: PrimitiveArray<T> = values.collect();
    Arc::new(values.with_data_type(data_type.clone()))
}

fn bytes_array(values: &[Option<&ZoneValue>], data_type: &DataType) -> ArrayRef {
    let bytes = values.iter().map(|value| match value {
        Some(ZoneValue::Bytes(bytes)) => Some(bytes.as_ref()),
        _ => None,
    });
    let array: ArrayRef = Arc::new(bytes.collect::<BinaryViewArray>());
    match cast(&array, data_type) {
        Ok(array) => array,
        Err(_) => Arc::new(StringViewArray::new_null(values.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_tables::every_type;

    #[test]
    fn zones_of_every_type_give_their_bounds_back() {
        let (_, batch) = every_type();
        for column in batch.columns() {
            let Some(zone) = of_array(column) else { continue };
            let array = to_array(
                column.data_type().clone(),
                [zone.min.as_ref(), zone.max.as_ref()].into_iter(),
            );
            assert_eq!(array.data_type(), column.data_type());
            assert_eq!(&array.slice(0, 1), &column.slice(0, 1), "{}", column.data_type());
        }
    }

    #[test]
    fn long_text_is_cut_to_bounds_that_still_hold() {
        let long = "ä".repeat(100);
        let array = StringViewArray::from_iter_values([&long]);
        let zone = of_array(&array).expect("text has zones");
        assert!(!zone.exact);
        let (Some(ZoneValue::Bytes(min)), Some(ZoneValue::Bytes(max))) = (zone.min, zone.max)
        else {
            panic!("text zones are bytes")
        };
        assert!(*min < *long.as_bytes() && *max > *long.as_bytes());
        assert!(min.len() <= TEXT_BYTES_MAX && max.len() <= TEXT_BYTES_MAX);
        assert!(std::str::from_utf8(&max).is_ok());
    }
}
