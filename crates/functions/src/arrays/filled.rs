//! `array_fill`: arrays of some dimensions with one value.

use super::elements::list_of;
use columnar::function;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt32Array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, Int32Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The most elements of an array, as in PostgreSQL.
const ELEMENTS_MAX: i32 = 134_217_727;

/// The most dimensions of an array.
const DIMENSIONS_MAX: usize = 6;

/// The function of a value and an array with the size of one dimension, or the sizes of several.
pub(super) fn function_of_sizes() -> ScalarUDF {
    let types = |types: &[DataType]| match types {
        [item, DataType::List(_)] => {
            Ok((vec![item.clone(), list_of(DataType::Int32)], list_of(item.clone())))
        }
        [item, sizes @ ..] if !sizes.is_empty() => {
            let integers = sizes.iter().map(|_| DataType::Int32);
            let arguments = std::iter::once(item.clone()).chain(integers).collect();
            Ok((arguments, sizes.iter().fold(item.clone(), |of, _| list_of(of))))
        }
        _ => Err(Error::new(SqlState::UndefinedFunction, "array_fill takes a value and sizes")),
    };
    function("array_filled", types, filled)
}

/// As many copies of a value as the sizes say.
fn filled(args: &[ArrayRef]) -> Result<ArrayRef> {
    // How many items each list of a dimension has, the outermost dimension first.
    let mut lengths: Vec<Vec<usize>> = vec![Vec::new(); args.len() - 1];
    let mut taken: Vec<u32> = Vec::new();
    for row in 0..args[0].len() {
        let sizes = sizes(&args[1..], row)?;
        let count = count(&sizes)?;
        if count > 0 && sizes.len() > lengths.len() {
            let message = "array_fill with a computed number of dimensions is not supported";
            return Err(Error::unsupported(message));
        }
        if taken.len() + count > i32::MAX as usize {
            return Err(too_large());
        }
        // An array without elements has no dimensions.
        let mut lists = 1;
        for (dimension, lengths) in lengths.iter_mut().enumerate() {
            let size = if count == 0 { 0 } else { sizes[dimension] as usize };
            lengths.extend(std::iter::repeat_n(size, lists));
            lists *= size;
        }
        taken.extend(std::iter::repeat_n(row as u32, count));
    }
    let mut items = take(&args[0], &UInt32Array::from(taken), None)?;
    for lengths in lengths.into_iter().rev() {
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths(lengths);
        items = Arc::new(ListArray::try_new(field, offsets, items, None)?);
    }
    Ok(items)
}

/// The sizes of the dimensions of a row.
fn sizes(args: &[ArrayRef], row: usize) -> Result<Vec<i32>> {
    let null = |message: &str| Error::new(SqlState::NullValueNotAllowed, message);
    let sizes: Option<Vec<i32>> = match args {
        [array] if let Some(lists) = array.as_list_opt::<i32>() => {
            if lists.is_null(row) {
                return Err(null("dimension array or low bound array cannot be null"));
            }
            lists.value(row).as_primitive::<Int32Type>().iter().collect()
        }
        sizes => {
            let size = |size: &ArrayRef| {
                let sizes = size.as_primitive::<Int32Type>();
                sizes.is_valid(row).then(|| sizes.value(row))
            };
            sizes.iter().map(size).collect()
        }
    };
    let sizes = sizes.ok_or_else(|| null("dimension values cannot be null"))?;
    if sizes.len() > DIMENSIONS_MAX {
        let message = format!(
            "number of array dimensions ({}) exceeds the maximum allowed ({DIMENSIONS_MAX})",
            sizes.len()
        );
        return Err(Error::new(SqlState::ProgramLimitExceeded, message));
    }
    Ok(sizes)
}

/// The number of elements of an array with some sizes.
fn count(sizes: &[i32]) -> Result<usize> {
    if sizes.is_empty() {
        return Ok(0);
    }
    let mut product = 1_i32;
    for size in sizes {
        let next = if *size < 0 { None } else { product.checked_mul(*size) };
        product = next.ok_or_else(too_large)?;
    }
    if product > ELEMENTS_MAX { Err(too_large()) } else { Ok(product as usize) }
}

fn too_large() -> Error {
    let message = format!("array size exceeds the maximum allowed ({ELEMENTS_MAX})");
    Error::new(SqlState::ProgramLimitExceeded, message)
}
