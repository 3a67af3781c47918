//! The summands of `sum`, and `avg` of intervals.

use super::common_types::digits;
use crate::datetime::intervals;
use columnar::{function, hidden};
use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Decimal128Array, PrimitiveArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, UInt32Type, UInt64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The maximum precision of a numeric.
const PRECISION_MAX: u8 = 38;
/// The type of sums of integers of up to 64 bits.
const SUMMED: DataType = DataType::Decimal128(20, 0);
/// The maximum scale of a product that the engine computes with fewer digits than it may have.
const PRODUCT_SCALE: i8 = 20;

/// The argument of `sum`: a `bigint` as a numeric, whose sums do not overflow; other values are unchanged. The engine's
/// cast takes three times as long, because it checks the number of digits.
pub fn summand() -> ScalarUDF {
    hidden(SUMMAND, summand_type, |args| Ok(as_summand(&args[0])))
}

fn as_summand(value: &ArrayRef) -> ArrayRef {
    match value.data_type() {
        DataType::Int64 => widened(value.as_primitive::<Int64Type>()),
        DataType::UInt64 => widened(value.as_primitive::<UInt64Type>()),
        DataType::UInt32 => widened(value.as_primitive::<UInt32Type>()),
        _ => Arc::clone(value),
    }
}

fn widened<T: ArrowPrimitiveType<Native: Into<i128>>>(values: &PrimitiveArray<T>) -> ArrayRef {
    let wide: Decimal128Array = values.unary(Into::into);
    Arc::new(wide.with_data_type(SUMMED))
}

/// The name of [`summand`].
pub const SUMMAND: &str = "summand";

fn summand_type(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let [of] = types else {
        return Err(Error::new(SqlState::UndefinedFunction, "sum and avg take one argument"));
    };
    Ok((vec![of.clone()], summed(of).unwrap_or_else(|| of.clone())))
}

/// The type to which `sum` converts values of a type; `None` if it does not convert them.
pub fn summed(data_type: &DataType) -> Option<DataType> {
    matches!(data_type, DataType::Int64 | DataType::UInt64 | DataType::UInt32).then_some(SUMMED)
}

/// The result of `avg`: sum divided by count, NULL if the count is zero.
pub fn average() -> ScalarUDF {
    function("average", average_type, mean)
}

/// Whether the engine's product of two numerics could overflow although the result has few digits.
pub fn is_wide_product(left: &DataType, right: &DataType) -> bool {
    let (left, right) = (digits(left), digits(right));
    left.0 + right.0 >= PRECISION_MAX && left.1 + right.1 > PRODUCT_SCALE
}

fn average_type(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let [sum, _] = types else {
        return Err(Error::new(SqlState::UndefinedFunction, "avg takes one argument"));
    };
    Ok(match sum {
        DataType::Interval(_) | DataType::Duration(_) => {
            (vec![intervals::INTERVAL, DataType::Int64], intervals::INTERVAL)
        }
        other => {
            let name = values::types::of_arrow(other);
            let message = format!("function avg({name}) does not exist");
            return Err(Error::new(SqlState::UndefinedFunction, message));
        }
    })
}

fn mean(args: &[ArrayRef]) -> Result<ArrayRef> {
    match args[0].data_type() {
        DataType::Interval(_) => {
            let counts = cast(&args[1], &DataType::Float64)?;
            intervals::quotient(&[Arc::clone(&args[0]), counts])
        }
        other => Err(Error::unsupported(format!("the average of {other} is not supported"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int32Array, Int64Array, UInt32Array, UInt64Array};

    #[test]
    fn summands_of_64_bits_become_numerics() {
        let arrays: [ArrayRef; 3] = [
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(i64::MAX)])),
            Arc::new(UInt64Array::from(vec![Some(0), None, Some(u64::MAX)])),
            Arc::new(UInt32Array::from(vec![Some(1), None, Some(u32::MAX)])),
        ];
        for array in arrays {
            let cast = cast(&array, &SUMMED).expect("cast");
            assert_eq!(&as_summand(&array), &cast, "{}", array.data_type());
        }
        let short: ArrayRef = Arc::new(Int32Array::from(vec![7]));
        assert!(Arc::ptr_eq(&as_summand(&short), &short));
    }
}
