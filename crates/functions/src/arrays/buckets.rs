//! `width_bucket` with the lower bounds of buckets, which are in ascending order.

use super::order::with_one_zero;
use crate::numbers::open::comparable;
use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, make_comparator};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The function that finds the bucket of a value of any type that has an order.
pub(super) fn bucket() -> ScalarUDF {
    let types: Types = |types| match types {
        [_, list @ DataType::List(item)] => {
            Ok((vec![item.data_type().clone(), list.clone()], DataType::Int32))
        }
        _ => Err(Error::unsupported("buckets of this type are not supported")),
    };
    function("array_bucket", types, found)
}

/// How many bounds are not above each value.
fn found(args: &[ArrayRef]) -> Result<ArrayRef> {
    let lists = args[1].as_list::<i32>();
    let values = comparable(&with_one_zero(&args[0])?)?;
    let bounds = comparable(&with_one_zero(lists.values())?)?;
    let compare = make_comparator(&bounds, &values, SortOptions::default())?;
    let rows = (0..lists.len()).map(|row| {
        if values.is_null(row) || lists.is_null(row) {
            return Ok(None);
        }
        let offsets = lists.value_offsets();
        let (start, end) = (offsets[row] as usize, offsets[row + 1] as usize);
        if (start..end).any(|at| bounds.is_null(at)) {
            let message = "thresholds array must not contain NULLs";
            return Err(Error::new(SqlState::NullValueNotAllowed, message));
        }
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            match compare(middle, row).is_le() {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(Some(i32::try_from(low - start).unwrap_or(i32::MAX)))
    });
    Ok(Arc::new(rows.collect::<Result<Int32Array>>()?))
}
