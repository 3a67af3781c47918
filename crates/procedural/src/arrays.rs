//! Items and slices of arrays. The first subscript of an array is 1, and an array of several dimensions consists of arrays.

use crate::value::Value;
use datafusion::arrow::array::{Array, ArrayRef, ListArray, new_empty_array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use plpgsql::ItemPlace;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

/// The most items of an array.
const ITEMS_MAX: i64 = 134_217_727;

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
    let scalar = match (at, list.filter(|list| list.data_type().is_list())) {
        (places, Some(list)) => deep(&list, &items_of(places, &list)?, &item.scalar)?,
        ([ItemPlace::Item(at)], None) => one(&array.scalar, field, *at, item.scalar)?,
        ([ItemPlace::Slice(from, to)], None) => match &item.scalar {
            ScalarValue::List(given) if !given.is_null(0) => {
                let given = scalars(Some(&given.value(0)))?;
                slice(&array.scalar, field, (*from, *to), given)?
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

/// The items of a list of one dimension; none of NULL.
fn plain_items(list: &ScalarValue) -> Result<Vec<ScalarValue>> {
    match list {
        ScalarValue::List(list) if !list.is_null(0) => scalars(Some(&list.value(0))),
        _ => Ok(Vec::new()),
    }
}

/// A list with another item, before which NULLs stand if it was shorter.
fn one(list: &ScalarValue, field: &FieldRef, at: i64, item: ScalarValue) -> Result<ScalarValue> {
    let mut items = plain_items(list)?;
    let place = match usize::try_from(at - 1) {
        Ok(place) if place == 0 || !items.is_empty() => place,
        _ => return Err(missing("an array whose first subscript is not 1")),
    };
    if at > ITEMS_MAX {
        let message = format!("array size exceeds the maximum allowed ({ITEMS_MAX})");
        return Err(Error::new(SqlState::chosen("54000"), message));
    }
    let null = ScalarValue::try_from(field.data_type())?;
    while items.len() <= place {
        items.push(null.clone());
    }
    items[place] = item;
    list_of(field, items)
}

/// A list in which some items are others.
fn slice(
    list: &ScalarValue,
    field: &FieldRef,
    (from, to): (Option<i64>, Option<i64>),
    given: Vec<ScalarValue>,
) -> Result<ScalarValue> {
    let mut items = plain_items(list)?;
    let (from, to) = (from.unwrap_or(1), to.unwrap_or(items.len() as i64));
    if from > to + 1 {
        let message = "upper bound cannot be less than lower bound";
        return Err(Error::new(SqlState::chosen("2202E"), message));
    }
    if from < 1 || items.is_empty() && from != 1 || to > ITEMS_MAX {
        return Err(missing("an array whose first subscript is not 1"));
    }
    if (given.len() as i64) < to - from + 1 {
        return Err(Error::new(SqlState::chosen("2202E"), "source array too small"));
    }
    let null = ScalarValue::try_from(field.data_type())?;
    while (items.len() as i64) < to {
        items.push(null.clone());
    }
    for (at, item) in (from..=to).zip(given) {
        items[(at - 1) as usize] = item;
    }
    list_of(field, items)
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
    let mut items = scalars(Some(list))?;
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

fn scalars(list: Option<&ArrayRef>) -> Result<Vec<ScalarValue>> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let item = |row| Ok(ScalarValue::try_from_array(list, row)?);
    (0..list.len()).map(item).collect()
}

fn list_of(field: &FieldRef, items: Vec<ScalarValue>) -> Result<ScalarValue> {
    let array = match items.is_empty() {
        true => new_empty_array(field.data_type()),
        false => ScalarValue::iter_to_array(items)?,
    };
    of_array(field, array)
}

fn of_array(field: &FieldRef, items: ArrayRef) -> Result<ScalarValue> {
    let offsets = OffsetBuffer::from_lengths([items.len()]);
    let list = ListArray::try_new(Arc::clone(field), offsets, items, None)?;
    Ok(ScalarValue::List(Arc::new(list)))
}
