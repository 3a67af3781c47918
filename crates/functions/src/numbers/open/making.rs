//! Numbers with a scale each from other numbers, and the keys that order them.

use crate::datetime::intervals::{INTERVAL, lengths};
use columnar::{Types, function};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, LargeBinaryBuilder, ListArray, StructArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Int32Type};
use datafusion::logical_expr::ScalarUDF;
use numerics::Numeric;
use std::sync::Arc;
use values::assign::opened;
use values::error::{Error, Result};
use values::numbers::{OPEN, is_open, with_precision};

/// The name of the function of a number, or of the text of one, that returns the number with a scale of its own.
pub const OPENED: &str = "numeric_open";

/// The name of the function that returns bytes which are the same for equal numbers, and in their order.
pub const KEY: &str = "numeric_key";

/// The name of the function of a number and a modifier of `numeric` that returns the number with its precision and scale.
pub const WITH_PRECISION: &str = "numeric_precision";

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    let open: Types = |types| match types {
        [of] => Ok((vec![of.clone()], with_items(of, OPEN))),
        _ => Err(Error::unsupported("a numeric is made of one value")),
    };
    let key: Types = |types| match types {
        [of] => Ok((vec![of.clone()], with_items(of, DataType::BinaryView))),
        _ => Err(Error::unsupported("a key is made of one value")),
    };
    vec![
        function(OPENED, open, |args| opened(&args[0])),
        function(KEY, key, |args| comparable(&opened(&args[0])?)),
        function(
            WITH_PRECISION,
            |_| Ok((vec![OPEN, DataType::Int32], OPEN)),
            // The modifier is that of a type: it is the same for all rows.
            |args| match args[1].as_primitive::<Int32Type>().values().first() {
                Some(modifier) => with_precision(&args[0], modifier.unsigned_abs()),
                None => Ok(Arc::clone(&args[0])),
            },
        ),
    ]
}

/// A type, or the type of arrays of it where a type is one of arrays.
fn with_items(of: &DataType, item: DataType) -> DataType {
    match of {
        DataType::List(field) => {
            let item = with_items(field.data_type(), item);
            DataType::List(Arc::new(Field::new_list_field(item, true)))
        }
        _ => item,
    }
}

/// The keys of numbers that have a scale each, and the lengths of intervals, also of those in arrays and records. Other values
/// are unchanged.
///
/// # Errors
/// Arrow refuses an array.
pub fn comparable(values: &ArrayRef) -> Result<ArrayRef> {
    match values.data_type() {
        of if is_open(of) => keys(values),
        of if *of == INTERVAL => lengths(values),
        DataType::List(_) => {
            let list = values.as_list::<i32>();
            let items = comparable(list.values())?;
            if Arc::ptr_eq(&items, list.values()) {
                return Ok(Arc::clone(values));
            }
            let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
            let (_, offsets, _, nulls) = list.clone().into_parts();
            Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?))
        }
        DataType::Struct(_) => {
            let (fields, columns, nulls) = values.as_struct().clone().into_parts();
            let columns = columns.iter().map(comparable).collect::<Result<Vec<_>>>()?;
            let fields = fields.iter().zip(&columns).map(|(field, column)| {
                field.as_ref().clone().with_data_type(column.data_type().clone())
            });
            Ok(Arc::new(StructArray::try_new(fields.collect(), columns, nulls)?))
        }
        _ => Ok(Arc::clone(values)),
    }
}

fn keys(numbers: &ArrayRef) -> Result<ArrayRef> {
    let numbers = numbers.as_binary::<i64>();
    let mut keys = LargeBinaryBuilder::with_capacity(numbers.len(), numbers.values().len());
    for number in numbers {
        keys.append_option(number.map(Numeric::key_of));
    }
    let keys: ArrayRef = Arc::new(keys.finish());
    Ok(datafusion::arrow::compute::cast(&keys, &DataType::BinaryView)?)
}
