//! Exclusive or, which the engine takes for zero where both operands are the same, even NULL.

use columnar::function;
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::compute::kernels::bitwise::bitwise_xor;
use datafusion::arrow::datatypes::{DataType, Int16Type, Int32Type, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result};

/// The function, of two integers of the same type.
pub(crate) fn exclusive_or() -> ScalarUDF {
    function(
        "integer_xor",
        |types| match types {
            [of, _] if of.is_signed_integer() => Ok((vec![of.clone(); 2], of.clone())),
            _ => Err(Error::unsupported("exclusive or takes two integers")),
        },
        xor,
    )
}

fn xor(args: &[ArrayRef]) -> Result<ArrayRef> {
    let [left, right] = [&args[0], &args[1]];
    Ok(match left.data_type() {
        DataType::Int16 => {
            Arc::new(bitwise_xor(left.as_primitive::<Int16Type>(), right.as_primitive())?)
        }
        DataType::Int32 => {
            Arc::new(bitwise_xor(left.as_primitive::<Int32Type>(), right.as_primitive())?)
        }
        _ => Arc::new(bitwise_xor(left.as_primitive::<Int64Type>(), right.as_primitive())?),
    })
}
