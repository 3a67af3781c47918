//! The order of arrays: by their items, NULL last, then by their length.

use crate::numbers::open::comparable;
use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryArray, ListArray};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result};

/// The function that returns the key by which arrays are ordered.
pub(crate) fn key() -> ScalarUDF {
    let types: Types = |types| match types {
        [list @ DataType::List(_)] => Ok((vec![list.clone()], DataType::Binary)),
        _ => Err(Error::unsupported("the order of this type is not supported")),
    };
    function("array_order", types, |args| keys(&args[0]))
}

fn keys(lists: &ArrayRef) -> Result<ArrayRef> {
    let options = SortOptions { descending: false, nulls_first: false };
    let lists = &comparable(&with_one_zero(lists)?)?;
    let field = SortField::new_with_options(lists.data_type().clone(), options);
    let converter = RowConverter::new(vec![field])?;
    let rows = converter.convert_columns(&[Arc::clone(lists)])?;
    let keys = rows.iter().enumerate();
    let keys = keys.map(|(row, key)| lists.is_valid(row).then(|| key.as_ref().to_vec()));
    Ok(Arc::new(keys.collect::<BinaryArray>()))
}

/// Floating-point numbers, or arrays of them, with 0 for -0. Others are unchanged.
pub(super) fn with_one_zero(values: &ArrayRef) -> Result<ArrayRef> {
    Ok(match values.data_type() {
        DataType::List(_) => {
            let list = values.as_list::<i32>();
            let items = with_one_zero(list.values())?;
            if Arc::ptr_eq(&items, list.values()) {
                return Ok(Arc::clone(values));
            }
            let (field, offsets, _, nulls) = list.clone().into_parts();
            Arc::new(ListArray::try_new(field, offsets, items, nulls)?)
        }
        DataType::Float32 => {
            Arc::new(values.as_primitive::<Float32Type>().unary::<_, Float32Type>(|x| x + 0.0))
        }
        DataType::Float64 => {
            Arc::new(values.as_primitive::<Float64Type>().unary::<_, Float64Type>(|x| x + 0.0))
        }
        _ => Arc::clone(values),
    })
}
