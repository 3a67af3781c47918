//! Floating-point numbers as whole numbers in the same order: NaN after infinity.
//!
//! The engine's `min` and `max` of groups compare NaN as neither less nor greater, so that its place among the rows decides, and
//! begin with the greatest finite number. Those of the ranks have neither fault.

use columnar::{Types, function};
use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::Result;

/// The function from numbers to ranks.
pub const RANK: &str = "float_rank";
/// The functions from ranks to `real` and `double precision`.
pub const RANKED: [&str; 2] = ["float4_of_rank", "float8_of_rank"];

/// The functions.
pub(crate) fn all() -> [ScalarUDF; 3] {
    let of_numbers: Types = |_| Ok((vec![DataType::Float64], DataType::Int64));
    let to_single: Types = |_| Ok((vec![DataType::Int64], DataType::Float32));
    let to_double: Types = |_| Ok((vec![DataType::Int64], DataType::Float64));
    let [single, double] = RANKED;
    [
        function(RANK, of_numbers, ranks),
        function(single, to_single, |args| Ok(cast(&numbers(args), &DataType::Float32)?)),
        function(double, to_double, |args| Ok(numbers(args))),
    ]
}

fn ranks(args: &[ArrayRef]) -> Result<ArrayRef> {
    let numbers = args[0].as_primitive::<Float64Type>();
    let ranks: Int64Array = numbers.unary(|number| turned(number.to_bits() as i64));
    Ok(Arc::new(ranks))
}

fn numbers(args: &[ArrayRef]) -> ArrayRef {
    let ranks = args[0].as_primitive::<Int64Type>();
    let numbers: Float64Array = ranks.unary(|rank| f64::from_bits(turned(rank) as u64));
    Arc::new(numbers)
}

/// The bits behind the sign, the other way round if it is negative. Twice is the same again.
fn turned(bits: i64) -> i64 {
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Float32Array;

    #[test]
    fn ranks_have_the_order_of_the_numbers() {
        let ordered = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -0.0,
            0.0,
            f64::MIN_POSITIVE,
            1.5,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ];
        let array: ArrayRef = Arc::new(Float64Array::from(ordered.to_vec()));
        let ranked = ranks(&[array]).expect("numbers");
        let of = ranked.as_primitive::<Int64Type>().values().to_vec();
        assert!(of.is_sorted_by(|a, b| a < b), "{of:?}");
        let back = numbers(&[ranked]);
        let back = back.as_primitive::<Float64Type>().values().iter().map(|x| x.to_bits());
        assert!(back.eq(ordered.map(f64::to_bits)));
        let single: ArrayRef = Arc::new(Float32Array::from(vec![0.1_f32]));
        assert_eq!(
            cast(&single, &DataType::Float64)
                .expect("a number")
                .as_primitive::<Float64Type>()
                .value(0) as f32,
            0.1
        );
    }
}
