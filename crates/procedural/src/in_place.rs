//! Items of arrays that are changed in place, so that a loop over an array does not copy it again and again.
//!
//! An array that nothing else holds keeps its memory, which grows as that of a vector does. It has one dimension and no
//! NULL among its items, which have a fixed width. Other arrays are copied ([`crate::arrays`]).

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, ListArray, PrimitiveArray};
use datafusion::arrow::buffer::{BooleanBuffer, Buffer, OffsetBuffer};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, FieldRef, Float64Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType,
};
use datafusion::common::ScalarValue;
use functions::arrays::items::ITEMS_MAX;
use std::sync::Arc;
use values::error::Result;

/// The most bytes of an array that grows here.
const BYTES_MAX: usize = 1 << 29;

/// Puts an item at a subscript of an array, or at its end. `false` if the array stays what it was, because it has to be
/// copied.
///
/// # Errors
/// None, unless an array cannot be made.
pub(crate) fn put(array: &mut ScalarValue, at: Option<i64>, item: &ScalarValue) -> Result<bool> {
    use ScalarValue as V;
    match item {
        V::Int16(Some(item)) => number::<Int16Type>(array, at, *item),
        V::Int32(Some(item)) => number::<Int32Type>(array, at, *item),
        V::Int64(Some(item)) => number::<Int64Type>(array, at, *item),
        V::Float64(Some(item)) => number::<Float64Type>(array, at, *item),
        V::Date32(Some(item)) => number::<Date32Type>(array, at, *item),
        V::TimestampMicrosecond(Some(item), None) => {
            number::<TimestampMicrosecondType>(array, at, *item)
        }
        V::Boolean(Some(item)) => truth(array, at, *item),
        _ => Ok(false),
    }
}

/// The place, from 0, of an item among those of an array, or behind them. `None` if the array has to be copied.
fn place(array: &ScalarValue, at: Option<i64>, of: &DataType, width: usize) -> Option<usize> {
    let ScalarValue::List(list) = array else { return None };
    let items = list.values();
    let [0, end] = list.value_offsets() else { return None };
    let is_whole = list.is_valid(0) && usize::try_from(*end).ok() == Some(items.len());
    if !is_whole || items.data_type() != of || items.null_count() > 0 {
        return None;
    }
    let place = match at {
        Some(at) => usize::try_from(at.checked_sub(1)?).ok()?,
        None => items.len(),
    };
    let fits = place <= items.len() && place < ITEMS_MAX.min(BYTES_MAX / width);
    fits.then_some(place)
}

/// The parts of an array: its field, the bounds of its only row, and the items.
type Taken = (FieldRef, OffsetBuffer<i32>, ArrayRef);

/// Takes the items of an array, and leaves nothing.
fn taken(array: &mut ScalarValue) -> Option<Taken> {
    match std::mem::replace(array, ScalarValue::Null) {
        ScalarValue::List(list) => {
            let (field, bounds, items, _) = Arc::unwrap_or_clone(list).into_parts();
            Some((field, bounds, items))
        }
        other => {
            *array = other;
            None
        }
    }
}

/// An array with other items in the place of those that were taken.
fn list(field: FieldRef, bounds: OffsetBuffer<i32>, items: ArrayRef) -> Result<ScalarValue> {
    let is_as_long = bounds.last().is_some_and(|end| usize::try_from(*end) == Ok(items.len()));
    let bounds = if is_as_long { bounds } else { OffsetBuffer::from_lengths([items.len()]) };
    Ok(ScalarValue::List(Arc::new(ListArray::try_new(field, bounds, items, None)?)))
}

fn number<T: ArrowPrimitiveType>(
    array: &mut ScalarValue,
    at: Option<i64>,
    item: T::Native,
) -> Result<bool> {
    let Some(place) = place(array, at, &T::DATA_TYPE, size_of::<T::Native>()) else {
        return Ok(false);
    };
    let Some((field, bounds, items)) = taken(array) else { return Ok(false) };
    let numbers = items.as_primitive::<T>().clone();
    // Only the clone holds the memory now.
    drop(items);
    let (_, numbers, _) = numbers.into_parts();
    let mut numbers = match numbers.into_inner().into_vec::<T::Native>() {
        Ok(numbers) => numbers,
        Err(shared) => shared.typed_data::<T::Native>().to_vec(),
    };
    match numbers.get_mut(place) {
        Some(old) => *old = item,
        None => numbers.push(item),
    }
    *array = list(field, bounds, Arc::new(PrimitiveArray::<T>::new(numbers.into(), None)))?;
    Ok(true)
}

fn truth(array: &mut ScalarValue, at: Option<i64>, item: bool) -> Result<bool> {
    let Some(place) = place(array, at, &DataType::Boolean, 1) else { return Ok(false) };
    let Some((field, bounds, items)) = taken(array) else { return Ok(false) };
    let truths = items.as_boolean().clone();
    drop(items);
    let (bits, _) = truths.into_parts();
    let bits = if bits.offset() == 0 { bits } else { bits.iter().collect::<BooleanBuffer>() };
    let length = bits.len().max(place + 1);
    let mut bytes = match bits.into_inner().into_vec::<u8>() {
        Ok(bytes) => bytes,
        Err(shared) => shared.as_slice().to_vec(),
    };
    // The place is at most one bit behind the last.
    if bytes.len() <= place / 8 {
        bytes.push(0);
    }
    let bit = 1 << (place % 8);
    match item {
        true => bytes[place / 8] |= bit,
        false => bytes[place / 8] &= !bit,
    }
    let bits = BooleanBuffer::new(Buffer::from_vec(bytes), 0, length);
    *array = list(field, bounds, Arc::new(BooleanArray::new(bits, None)))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int32Array, new_empty_array};
    use datafusion::arrow::datatypes::Field;

    fn of(items: ArrayRef) -> ScalarValue {
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        list(field, OffsetBuffer::from_lengths([items.len()]), items).expect("an array")
    }

    #[test]
    fn numbers_are_replaced_and_added() {
        let mut array = of(Arc::new(Int32Array::from(vec![1, 2])));
        let shared = array.clone();
        for (at, item) in [(Some(2), 20), (Some(3), 30), (None, 40)] {
            assert!(put(&mut array, at, &ScalarValue::Int32(Some(item))).expect("a change"));
        }
        assert_eq!(array, of(Arc::new(Int32Array::from(vec![1, 20, 30, 40]))));
        assert_eq!(shared, of(Arc::new(Int32Array::from(vec![1, 2]))));
    }

    #[test]
    fn truths_are_replaced_and_added() {
        let mut array = of(new_empty_array(&DataType::Boolean));
        for place in 0..20 {
            let item = ScalarValue::Boolean(Some(place % 3 == 0));
            assert!(put(&mut array, None, &item).expect("a change"));
        }
        assert!(put(&mut array, Some(1), &ScalarValue::Boolean(Some(false))).expect("a change"));
        let wanted: Vec<bool> = (0..20).map(|place| place % 3 == 0 && place > 0).collect();
        assert_eq!(array, of(Arc::new(BooleanArray::from(wanted))));
    }

    #[test]
    fn other_arrays_stay_what_they_were() {
        let with_null = of(Arc::new(Int32Array::from(vec![Some(1), None])));
        let plain = of(Arc::new(Int32Array::from(vec![1])));
        let nothing = ScalarValue::new_null_list(DataType::Int32, true, 1);
        let (one, null) = (ScalarValue::Int32(Some(1)), ScalarValue::Int32(None));
        for (array, at, item) in [
            (&with_null, None, &one),
            (&nothing, None, &one),
            (&plain, None, &null),
            (&plain, Some(3), &one),
            (&plain, Some(0), &one),
            (&plain, None, &ScalarValue::Int64(Some(1))),
        ] {
            let mut changed = array.clone();
            assert!(!put(&mut changed, at, item).expect("no change"));
            assert_eq!(&changed, array);
        }
    }
}
