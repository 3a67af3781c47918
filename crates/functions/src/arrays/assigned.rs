//! Assignments to items of arrays.

use super::items::place_of;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, ListArray, MutableArrayData, make_array,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{DataType, Int32Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// `array_assigned`: an array with another item at an index, longer by NULLs if it does not reach that far.
pub(super) fn function() -> ScalarUDF {
    columnar::function(
        "array_assigned",
        |types| match types {
            [list @ DataType::List(item), _, _] => {
                let arguments = vec![list.clone(), DataType::Int32, item.data_type().clone()];
                Ok((arguments, list.clone()))
            }
            _ => Err(Error::new(SqlState::UndefinedFunction, "array_assigned takes an array")),
        },
        assigned,
    )
}

fn assigned(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (lists, indexes) = (args[0].as_list::<i32>(), args[1].as_primitive::<Int32Type>());
    let (old, new) = (lists.values().to_data(), args[2].to_data());
    let mut items = MutableArrayData::new(vec![&old, &new], true, old.len() + new.len());
    let mut lengths = Vec::with_capacity(lists.len());
    for row in 0..lists.len() {
        executor::check()?;
        let begin = lists.value_offsets()[row] as usize;
        let length = if lists.is_null(row) { 0 } else { lists.value_length(row) as usize };
        let at = place(indexes, row, length)?;
        items.try_extend(0, begin, begin + at.min(length))?;
        items.try_extend_nulls(at.saturating_sub(length))?;
        items.try_extend(1, row, row + 1)?;
        if at < length {
            items.try_extend(0, begin + at + 1, begin + length)?;
        }
        lengths.push(length.max(at + 1));
    }
    let DataType::List(field) = args[0].data_type() else {
        return Err(Error::unsupported("an assignment to an item of this value is not supported"));
    };
    let (offsets, items) = (OffsetBuffer::from_lengths(lengths), make_array(items.freeze()));
    Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, items, None)?))
}

/// The place of the item, from 0.
fn place(indexes: &Int32Array, row: usize, length: usize) -> Result<usize> {
    if indexes.is_null(row) {
        let message = "array subscript in assignment must not be null";
        return Err(Error::new(SqlState::NullValueNotAllowed, message));
    }
    place_of(i64::from(indexes.value(row)), length)
}
