//! Items and slices of arrays. The first subscript of an array is 1, and an array of several dimensions consists of arrays.

use crate::steady::steady_value;
use crate::value::Value;
use datafusion::arrow::array::{Array, ArrayRef, ListArray, new_empty_array, new_null_array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use functions::arrays::items::{place_of, too_long};
use plpgsql::ItemPlace;
use std::ops::Range;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

/// The most bytes of an array that is assigned to, as of any value in PostgreSQL.
const BYTES_MAX: usize = 1 << 30;

fn out_of_range() -> Error {
    Error::new(SqlState::chosen("2202E"), "array subscript out of range")
}

/// The dimensions of a list of this type.
fn dimensions(of: &DataType) -> usize {
    match of {
        DataType::List(field) => 1 + dimensions(field.data_type()),
        _ => 0,
    }
}

/// The items of an array, or with `slice` the arrays of so many dimensions in it.
pub(crate) fn items(value: &Value, slice: usize) -> Result<Option<Vec<Value>>> {
    let SqlType::Array(item) = &value.of else {
        let message = format!("FOREACH expression must yield an array, not type {}", value.of);
        return Err(Error::new(SqlState::DatatypeMismatch, message));
    };
    let ScalarValue::List(list) = &value.scalar else { return Ok(None) };
    if list.is_null(0) {
        return Ok(None);
    }
    let depth = dimensions(list.data_type());
    if slice > depth {
        let message = format!("slice dimension ({slice}) is out of the valid range 0..{depth}");
        return Err(Error::new(SqlState::chosen("2202E"), message));
    }
    if slice == depth {
        return Ok(Some(vec![value.clone()]));
    }
    let mut of = (**item).clone();
    while let SqlType::Array(inner) = of {
        of = *inner;
    }
    let of = if slice == 0 { of } else { SqlType::Array(Box::new(of)) };
    let mut found = Vec::new();
    collect(&list.value(0), depth - 1 - slice, &of, &mut found)?;
    Ok(Some(found))
}

/// The values that lie so many dimensions within some others.
fn collect(within: &ArrayRef, depth: usize, of: &SqlType, found: &mut Vec<Value>) -> Result<()> {
    for row in 0..within.len() {
        match within.as_any().downcast_ref::<ListArray>().filter(|_| depth > 0) {
            Some(lists) => collect(&lists.value(row), depth - 1, of, found)?,
            None => found.push(Value::at(within, row, of)?),
        }
    }
    Ok(())
}

/// The item of an array at some subscripts; NULL where there is none.
///
/// # Errors
/// 0A000 for a slice.
pub(crate) fn item(array: &Value, at: &[ItemPlace]) -> Result<Value> {
    let SqlType::Array(of) = &array.of else {
        return Err(missing("an item of such a value"));
    };
    let mut found = match &array.scalar {
        ScalarValue::List(list) if !list.is_null(0) => list.value(0),
        _ => return Ok(Value::null(of)),
    };
    for (number, place) in at.iter().enumerate() {
        let ItemPlace::Item(index) = place else {
            return Err(missing("a field of a slice in an assignment"));
        };
        let row = usize::try_from(index.saturating_sub(1)).ok();
        let Some(row) = row.filter(|row| *row < found.len() && found.is_valid(*row)) else {
            return Ok(Value::null(of));
        };
        if number + 1 == at.len() {
            return Value::at(&found, row, of);
        }
        let Some(inner) = found.as_any().downcast_ref::<ListArray>().map(|all| all.value(row))
        else {
            return Ok(Value::null(of));
        };
        found = inner;
    }
    Ok(Value::null(of))
}

/// An array in which a value stands at some subscripts.
pub(crate) fn with_item(array: &Value, at: &[ItemPlace], item: Value) -> Result<Value> {
    let data_type = array.of.arrow();
    let list = match &array.scalar {
        ScalarValue::List(list) if !list.is_null(0) => Some(list.value(0)),
        _ => None,
    };
    let DataType::List(field) = &data_type else {
        return Err(missing("an assignment to an item of such a value"));
    };
    let item = Value { scalar: as_item(item.scalar, field.data_type()), of: item.of };
    let scalar = match (at, list.filter(|list| list.data_type().is_list())) {
        (places, Some(list)) => deep(&list, &items_of(places, &list)?, &item.scalar)?,
        ([ItemPlace::Item(at)], None) => one(&array.scalar, field, *at, &item.scalar)?,
        ([ItemPlace::Slice(from, to)], None) => match &item.scalar {
            ScalarValue::List(given) if !given.is_null(0) => {
                slice(&array.scalar, field, (*from, *to), &given.value(0))?
            }
            // A slice that is NULL changes nothing.
            _ => array.scalar.clone(),
        },
        _ => return Err(missing("a new array of several dimensions in an assignment")),
    };
    Ok(Value { scalar, of: array.of.clone() })
}

fn missing(what: &str) -> Error {
    Error::unsupported(format!("{what} is not supported"))
}

/// An item as an array with items of a type holds it: a number has a scale of its own there.
fn as_item(item: ScalarValue, of: &DataType) -> ScalarValue {
    match of {
        DataType::LargeBinary => steady_value(&item).into_owned(),
        _ => item,
    }
}

/// Items as an array with items of a type holds them.
fn as_items(items: ArrayRef, of: &DataType) -> Result<ArrayRef> {
    let differ = *of == DataType::LargeBinary && items.data_type().is_decimal();
    if !differ || items.is_empty() {
        return Ok(if differ { new_empty_array(of) } else { items });
    }
    let mut held = Vec::with_capacity(items.len());
    for row in 0..items.len() {
        held.push(as_item(ScalarValue::try_from_array(&items, row)?, of));
    }
    Ok(ScalarValue::iter_to_array(held)?)
}

/// The items of a list of one dimension; none of NULL.
fn plain_items(list: &ScalarValue, field: &FieldRef) -> Result<ArrayRef> {
    match list {
        ScalarValue::List(list) if !list.is_null(0) => as_items(list.value(0), field.data_type()),
        _ => Ok(new_empty_array(field.data_type())),
    }
}

/// A list with another item, before which NULLs stand if it was shorter.
fn one(list: &ScalarValue, field: &FieldRef, at: i64, item: &ScalarValue) -> Result<ScalarValue> {
    let items = plain_items(list, field)?;
    let place = place_of(at, items.len())?;
    of_array(field, replaced(&items, place..place + 1, &item.to_array()?)?)
}

/// A list in which some items are others.
fn slice(
    list: &ScalarValue,
    field: &FieldRef,
    (from, to): (Option<i64>, Option<i64>),
    given: &ArrayRef,
) -> Result<ScalarValue> {
    let items = plain_items(list, field)?;
    let (from, to) = (from.unwrap_or(1), to.unwrap_or(items.len() as i64));
    if from > to.saturating_add(1) {
        let message = "upper bound cannot be less than lower bound";
        return Err(Error::new(SqlState::chosen("2202E"), message));
    }
    if from > to {
        return of_array(field, items);
    }
    let places = place_of(from, items.len())?..place_of(to, items.len().max(1))? + 1;
    if given.len() < places.len() {
        return Err(Error::new(SqlState::chosen("2202E"), "source array too small"));
    }
    let given = as_items(given.slice(0, places.len()), field.data_type())?;
    of_array(field, replaced(&items, places, &given)?)
}

/// Items of which some are others. NULLs stand where there was nothing before.
fn replaced(items: &ArrayRef, places: Range<usize>, given: &ArrayRef) -> Result<ArrayRef> {
    let (length, data_type) = (items.len(), items.data_type());
    // The bytes of an item, or of a reference to a longer one.
    let width = data_type.primitive_width().unwrap_or(size_of::<u128>());
    if places.end.max(length).saturating_mul(width) > BYTES_MAX {
        return Err(too_long());
    }
    let kept = items.slice(0, places.start.min(length));
    let nulls = new_null_array(data_type, places.start.saturating_sub(length));
    let rest = places.end.min(length);
    let rest = items.slice(rest, length - rest);
    Ok(concat(&[&*kept, &*nulls, &**given, &*rest])?)
}

/// The subscripts of an item of a list of several dimensions.
fn items_of(places: &[ItemPlace], list: &ArrayRef) -> Result<Vec<i64>> {
    let number = |place: &ItemPlace| match place {
        ItemPlace::Item(at) => Ok(*at),
        ItemPlace::Slice(..) => Err(missing("a slice of several dimensions in an assignment")),
    };
    let numbers = places.iter().map(number).collect::<Result<Vec<_>>>()?;
    if numbers.len() != 1 + dimensions(list.data_type()) {
        return Err(Error::new(SqlState::chosen("2202E"), "wrong number of array subscripts"));
    }
    Ok(numbers)
}

/// A list of several dimensions with another item.
fn deep(list: &ArrayRef, at: &[i64], item: &ScalarValue) -> Result<ScalarValue> {
    let item_at = |row| Ok(ScalarValue::try_from_array(list, row)?);
    let mut items = (0..list.len()).map(item_at).collect::<Result<Vec<_>>>()?;
    let (first, rest) = at.split_first().ok_or_else(out_of_range)?;
    let place = usize::try_from(*first - 1).map_err(|_| out_of_range())?;
    let old = items.get_mut(place).ok_or_else(out_of_range)?;
    *old = match old {
        ScalarValue::List(inner) if !rest.is_empty() => deep(&inner.value(0), rest, item)?,
        _ => item.clone(),
    };
    let array = ScalarValue::iter_to_array(items)?;
    let field = Arc::new(datafusion::arrow::datatypes::Field::new_list_field(
        array.data_type().clone(),
        true,
    ));
    of_array(&field, array)
}

fn of_array(field: &FieldRef, items: ArrayRef) -> Result<ScalarValue> {
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    let list = ListArray::try_new(Arc::clone(field), offsets, items, None)?;
    Ok(ScalarValue::List(Arc::new(list)))
}
