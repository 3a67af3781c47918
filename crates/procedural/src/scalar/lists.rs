//! Items and lengths of arrays of one dimension, and fields of rows. Other arrays are left to the engine.

use super::datum::Datum;
use crate::arrays::with_item;
use crate::value::Value;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray};
use datafusion::arrow::datatypes::{
    Date32Type, Float64Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
};
use datafusion::common::ScalarValue;
use plpgsql::ItemPlace;
use std::borrow::Cow;
use store::catalog::SqlType;
use values::error::Result;

/// The item of an array at a subscript, which is NULL beyond its ends. `None` if the items are of another type.
pub(super) fn item<'d>(array: &'d ScalarValue, subscript: i64, of: &SqlType) -> Option<Datum<'d>> {
    let ScalarValue::List(list) = array else { return None };
    if list.is_null(0) {
        return Some(Datum::Null);
    }
    let items = list.values();
    let (first, end) = bounds(list)?;
    let at = usize::try_from(subscript).ok().and_then(|subscript| subscript.checked_sub(1));
    let at = at.and_then(|at| at.checked_add(first)).filter(|at| *at < end);
    let Some(at) = at else {
        // The items of arrays of several dimensions are arrays.
        let is_plain = first == end || *items.data_type() == of.arrow();
        return is_plain.then_some(Datum::Null);
    };
    if items.data_type().is_nested() {
        return None;
    }
    value_at(items, at, of)
}

/// A field of a row, which is NULL of a row that is. `None` if it is of another type.
pub(super) fn field<'d>(row: &'d ScalarValue, field: usize, of: &SqlType) -> Option<Datum<'d>> {
    let ScalarValue::Struct(row) = row else { return None };
    match row.is_null(0) {
        true => Some(Datum::Null),
        false => value_at(row.columns().get(field)?, 0, of),
    }
}

/// The value at a place of some of a type. `None` if they are of another.
fn value_at<'d>(items: &'d ArrayRef, at: usize, of: &SqlType) -> Option<Datum<'d>> {
    if items.is_null(at) {
        return Some(Datum::Null);
    }
    Some(match of {
        SqlType::SmallInt => {
            Datum::Integer(items.as_primitive_opt::<Int16Type>()?.value(at).into())
        }
        SqlType::Integer => Datum::Integer(items.as_primitive_opt::<Int32Type>()?.value(at).into()),
        SqlType::BigInt => Datum::Integer(items.as_primitive_opt::<Int64Type>()?.value(at)),
        SqlType::Double => Datum::Double(items.as_primitive_opt::<Float64Type>()?.value(at)),
        SqlType::Date => Datum::Integer(items.as_primitive_opt::<Date32Type>()?.value(at).into()),
        SqlType::Timestamp | SqlType::TimestampTz => {
            Datum::Integer(items.as_primitive_opt::<TimestampMicrosecondType>()?.value(at))
        }
        SqlType::Boolean => Datum::Truth(items.as_boolean_opt()?.value(at)),
        SqlType::Text | SqlType::Varchar(None) => {
            Datum::Text(Cow::Borrowed(items.as_string_view_opt()?.value(at)))
        }
        of => {
            let value = ScalarValue::try_from_array(items, at).ok()?;
            match Datum::of(&value, of)? {
                Datum::Number(digits, scale) => Datum::Number(digits, scale),
                Datum::Span(value) => Datum::Span(value),
                _ => return None,
            }
        }
    })
}

/// The places of the items of the only row: the first, and the one behind the last.
fn bounds(list: &ListArray) -> Option<(usize, usize)> {
    let [first, end] = list.value_offsets() else { return None };
    Some((usize::try_from(*first).ok()?, usize::try_from(*end).ok()?))
}

/// How many items an array of one dimension has; 0 for NULL. `None` for other arrays.
fn count(array: &ScalarValue) -> Option<usize> {
    let ScalarValue::List(list) = array else { return None };
    if list.is_null(0) {
        return Some(0);
    }
    let (first, end) = bounds(list)?;
    (!list.values().data_type().is_nested()).then_some(end - first)
}

/// `cardinality`, or the length, which is NULL for an array without items. `None` for arrays of several dimensions.
pub(super) fn length(array: &ScalarValue, is_cardinality: bool) -> Option<Datum<'static>> {
    let ScalarValue::List(list) = array else { return None };
    Some(match count(array)? {
        _ if list.is_null(0) => Datum::Null,
        0 if !is_cardinality => Datum::Null,
        count => Datum::Integer(i64::try_from(count).ok()?),
    })
}

/// An array with one more item, which has the type of the others. `None` for arrays of several dimensions.
pub(super) fn appended(array: &Value, item: Value) -> Option<Result<Value>> {
    let next = i64::try_from(count(&array.scalar)?).ok()? + 1;
    Some(with_item(array, &[ItemPlace::Item(next)], item))
}
