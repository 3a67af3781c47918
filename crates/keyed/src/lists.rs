//! The values of lists: of `IN (...)` and of the arrays of `= ANY (...)`.

use crate::operand::{Converted, Operand, converted, converted_value};
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::common::ScalarValue;
use store::catalog::Column;
use values::error::Result;

/// Values in a list, at most. Longer lists are left to the planner.
const LISTED_MAX: usize = 1 << 10;

/// The values of operands without NULLs; `None` if there are too many, or one is not of the column's type.
///
/// # Errors
/// 42P02 if a parameter does not exist.
pub(crate) fn values_of(
    operands: &[Operand],
    column: &Column,
    parameters: &[ScalarValue],
) -> Result<Option<Vec<ArrayRef>>> {
    if operands.len() > LISTED_MAX {
        return Ok(None);
    }
    let mut values = Vec::with_capacity(operands.len());
    for operand in operands {
        match converted(operand, column, parameters)? {
            Some(Converted::Value(value)) => values.push(value),
            Some(Converted::Null) => {}
            None => return Ok(None),
        }
    }
    Ok(Some(values))
}

/// The values of an array's items without NULLs; `None` if they are not of the column's type.
pub(crate) fn items(
    operand: &Operand,
    array: &ScalarValue,
    column: &Column,
) -> Option<Vec<ArrayRef>> {
    let ScalarValue::List(list) = array else { return None };
    let is_cast = match operand {
        Operand::Cast(_, to) if *list.data_type() != to.arrow() => return None,
        operand => matches!(operand, Operand::Cast(..)),
    };
    if list.is_null(0) {
        return Some(Vec::new());
    }
    let items = list.value(0);
    if items.len() > LISTED_MAX || items.data_type().is_nested() {
        return None;
    }
    let mut values = Vec::with_capacity(items.len());
    for at in 0..items.len() {
        let item = ScalarValue::try_from_array(&items, at).ok()?;
        match converted_value(&item, is_cast, column)? {
            Converted::Value(value) => values.push(value),
            Converted::Null => {}
        }
    }
    Some(values)
}
