//! Zone maps: minimum, maximum and number of NULLs of each column of a chunk.
//!
//! Values are stored in a few normal forms, so that a zone takes tens of bytes. [`to_array`]
//! converts them to arrays of the column's type, for comparison with a predicate.

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

/// Text and bytes are truncated to this length in bytes.
const TEXT_BYTES_MAX: usize = 48;

/// Summary of the values of a column in a chunk.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone {
    /// Number of NULLs.
    pub nulls: u64,
    /// Lower bound; `None` if all values are NULL.
    pub min: Option<ZoneValue>,
    /// Upper bound; `None` if all values are NULL or no bound is known.
    pub max: Option<ZoneValue>,
    /// Whether the bounds are values of the chunk.
    pub exact: bool,
}

/// A value in its normal form. All values of a column have the same form.
#[derive(Debug, Clone, PartialEq)]
pub enum ZoneValue {
    /// Integers, booleans, dates, times, timestamps, and unscaled decimals.
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

/// Returns the zone of an array; `None` for types without an order.
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

/// NaN is above all other values, as in the order of keys and sorts, so there is no finite upper
/// bound. The zeros differ: -0 is below 0, as in the query engine.
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
    let max = max.and_then(|value| {
        if value.len() <= TEXT_BYTES_MAX {
            Some(value.to_vec())
        } else {
            above(cut(value, text), text)
        }
    });
    Zone { nulls, min, max: max.map(bytes), exact }
}

/// Returns the longest prefix within the limit. Text is cut between characters.
fn cut(value: &[u8], text: bool) -> &[u8] {
    let mut end = value.len().min(TEXT_BYTES_MAX);
    while text && end < value.len() && value[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    &value[..end]
}

/// Returns a short value above all values with a prefix; `None` if there is none.
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

/// Converts zone values to an array of the column's type. Unknown values become NULL.
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
