//! Division, multiplication, `sum` and `avg` of numerics, with results of up to 38 digits.
//!
//! PostgreSQL chooses the scale of a quotient by its value, for at least 16 significant digits. A
//! column has one scale, so a quotient has 16 digits after the point here, or as many as its operands.

use crate::columnar::{function, hidden};
use crate::datetime::intervals;
use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Decimal128Array, Float64Array, PrimitiveArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Float64Type, Int64Type, UInt32Type, UInt64Type, i256,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The maximum precision of a numeric.
const PRECISION_MAX: u8 = 38;
/// The type of sums of integers of up to 64 bits.
const SUMMED: DataType = DataType::Decimal128(20, 0);
/// The minimum scale of a quotient.
const QUOTIENT_SCALE: i8 = 16;
/// The maximum scale of a product whose operands have no larger one.
const PRODUCT_SCALE: i8 = 20;

/// The quotient of two numerics.
pub fn divide() -> ScalarUDF {
    function("numeric_divide", quotient_type, quotient)
}

/// The product of two numerics with more digits than the engine's product supports.
pub fn multiply() -> ScalarUDF {
    function("numeric_multiply", product_type, product)
}

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

/// Precision and scale of a numeric type, or of the numeric that holds all values of another type.
fn digits(data_type: &DataType) -> (u8, i8) {
    match data_type {
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => {
            (*p, *s)
        }
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => (5, 0),
        DataType::Int32 | DataType::UInt16 => (10, 0),
        DataType::Int64 | DataType::UInt32 => (19, 0),
        DataType::UInt64 => (20, 0),
        _ => (PRECISION_MAX, 10),
    }
}

fn pair(types: &[DataType]) -> Result<[(u8, i8); 2]> {
    match types {
        [left, right] => Ok([digits(left), digits(right)]),
        _ => Err(Error::new(SqlState::UndefinedFunction, "the operator takes two operands")),
    }
}

fn decimal((precision, scale): (u8, i8)) -> DataType {
    // A negative scale stands for zeros before the point.
    let below = scale.min(0).unsigned_abs();
    DataType::Decimal128(precision.saturating_add(below).min(PRECISION_MAX), scale.max(0))
}

fn quotient_type(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let [left, right] = pair(types)?;
    let scale = QUOTIENT_SCALE.max(left.1).max(right.1);
    Ok((vec![decimal(left), decimal(right)], DataType::Decimal128(PRECISION_MAX, scale)))
}

fn product_type(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let [left, right] = pair(types)?;
    let scale = (left.1 + right.1).min(PRODUCT_SCALE.max(left.1).max(right.1));
    Ok((vec![decimal(left), decimal(right)], DataType::Decimal128(PRECISION_MAX, scale.max(0))))
}

/// Whether the engine's product of two numerics could overflow although the result has few digits.
pub fn is_wide_product(left: &DataType, right: &DataType) -> bool {
    let (left, right) = (digits(left), digits(right));
    left.0 + right.0 >= PRECISION_MAX && left.1 + right.1 > PRODUCT_SCALE
}

fn scale_of(data_type: &DataType) -> i32 {
    digits(data_type).1.into()
}

fn too_large() -> Error {
    Error::new(SqlState::NumericValueOutOfRange, "value overflows numeric format")
        .with_hint("A numeric has at most 38 digits.")
}

/// The powers of ten that fit into 128 bits.
const POWERS: [i128; PRECISION_MAX as usize + 1] = {
    let mut powers = [1; PRECISION_MAX as usize + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = 10 * powers[at - 1];
        at += 1;
    }
    powers
};

/// Ten to the power of the absolute value of a shift.
fn power(shift: i32) -> Option<i128> {
    POWERS.get(usize::try_from(shift.unsigned_abs()).ok()?).copied()
}

/// `numerator * 10^shift / divisor`, rounded half away from zero; `None` if it has too many digits.
fn rounded(numerator: i128, shift: i32, divisor: i128) -> Option<i128> {
    let wide = || rounded_wide(i256::from_i128(numerator), shift, i256::from_i128(divisor));
    rounded_narrow(numerator, shift, divisor).or_else(wide)
}

/// As [`rounded`], in 128 bits; `None` if an intermediate result does not fit. It takes a quarter of
/// the time of 256 bits.
fn rounded_narrow(numerator: i128, shift: i32, divisor: i128) -> Option<i128> {
    let (numerator, divisor) = match shift {
        0.. => (numerator.checked_mul(power(shift)?)?, divisor),
        _ => (numerator, divisor.checked_mul(power(shift)?)?),
    };
    let (whole, rest) = (numerator.checked_div(divisor)?, numerator.checked_rem(divisor)?);
    let up = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    let away = if (numerator < 0) == (divisor < 0) { 1 } else { -1 };
    let whole = if up { whole.checked_add(away)? } else { whole };
    is_in_range(whole).then_some(whole)
}

fn is_in_range(value: i128) -> bool {
    value.unsigned_abs() < 10u128.pow(PRECISION_MAX.into())
}

/// As [`rounded`], in 256 bits.
fn rounded_wide(numerator: i256, shift: i32, divisor: i256) -> Option<i128> {
    let ten = i256::from_i128(10);
    let (numerator, divisor) = match u32::try_from(shift) {
        Ok(shift) => (numerator.checked_mul(ten.checked_pow(shift)?)?, divisor),
        Err(_) => (numerator, divisor.checked_mul(ten.checked_pow(shift.unsigned_abs())?)?),
    };
    let (whole, rest) = (numerator.checked_div(divisor)?, numerator.checked_rem(divisor)?);
    let up = rest.wrapping_abs() >= divisor.wrapping_abs().wrapping_sub(rest.wrapping_abs());
    let away = if (numerator < i256::ZERO) == (divisor < i256::ZERO) { 1 } else { -1 };
    let whole = if up { whole.checked_add(i256::from_i128(away))? } else { whole };
    whole.to_i128().filter(|value| is_in_range(*value))
}

fn quotient(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (_, returns) = quotient_type(&types_of(args))?;
    let shift = scale_of(&returns) + scale_of(args[1].data_type()) - scale_of(args[0].data_type());
    combine(args, &returns, |left, right| match right {
        0 => Err(Error::new(SqlState::DivisionByZero, "division by zero")),
        right => rounded(left, shift, right).ok_or_else(too_large),
    })
}

fn product(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (_, returns) = product_type(&types_of(args))?;
    let shift = scale_of(&returns) - scale_of(args[0].data_type()) - scale_of(args[1].data_type());
    combine(args, &returns, |left, right| {
        if let Some(exact) = left.checked_mul(right) {
            return rounded(exact, shift, 1).ok_or_else(too_large);
        }
        let exact = i256::from_i128(left).checked_mul(i256::from_i128(right));
        exact.and_then(|exact| rounded_wide(exact, shift, i256::ONE)).ok_or_else(too_large)
    })
}

fn types_of(args: &[ArrayRef]) -> Vec<DataType> {
    args.iter().map(|array| array.data_type().clone()).collect()
}

fn combine(
    args: &[ArrayRef],
    returns: &DataType,
    with: impl Fn(i128, i128) -> Result<i128>,
) -> Result<ArrayRef> {
    let (left, right) = (&args[0], &args[1]);
    let left = left.as_primitive::<Decimal128Type>();
    let right = right.as_primitive::<Decimal128Type>();
    let values = left.iter().zip(right).map(|pair| match pair {
        (Some(left), Some(right)) => with(left, right).map(Some),
        _ => Ok(None),
    });
    let values = values.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(values.with_data_type(returns.clone())))
}

fn average_type(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let [sum, _] = types else {
        return Err(Error::new(SqlState::UndefinedFunction, "avg takes one argument"));
    };
    Ok(match sum {
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            (vec![DataType::Float64, DataType::Int64], DataType::Float64)
        }
        DataType::Interval(_) | DataType::Duration(_) => {
            (vec![intervals::INTERVAL, DataType::Int64], intervals::INTERVAL)
        }
        sum if sum.is_numeric() || sum.is_null() => {
            let (mut arguments, returns) = quotient_type(&[sum.clone(), DataType::Int64])?;
            arguments[1] = DataType::Int64;
            (arguments, returns)
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
        DataType::Float64 => {
            let counts = cast(&args[1], &DataType::Float64)?;
            let sums = args[0].as_primitive::<Float64Type>().iter();
            let values = sums.zip(counts.as_primitive::<Float64Type>());
            let values = values.map(|(sum, count)| Some(sum? / count.filter(|n| *n != 0.0)?));
            Ok(Arc::new(values.collect::<Float64Array>()))
        }
        DataType::Interval(_) => {
            let counts = cast(&args[1], &DataType::Float64)?;
            intervals::quotient(&[Arc::clone(&args[0]), counts])
        }
        _ => {
            let counts = cast(&args[1], &DataType::Decimal128(19, 0))?;
            // If the count is zero, the sum is NULL: there is no division by zero.
            quotient(&[Arc::clone(&args[0]), counts])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int32Array, Int64Array, UInt32Array, UInt64Array};
    use proptest::prelude::*;

    /// Numbers of any magnitude, small ones as often as large ones.
    fn number() -> impl Strategy<Value = i128> {
        (any::<i128>(), 0..128_u32).prop_map(|(number, bits)| number >> bits)
    }

    proptest! {
        #[test]
        fn quotients_in_128_bits_are_those_in_256(
            numerator in number(),
            shift in -45..45_i32,
            divisor in number().prop_filter("no division by zero", |divisor| *divisor != 0),
        ) {
            let wide = rounded_wide(i256::from_i128(numerator), shift, i256::from_i128(divisor));
            let narrow = rounded_narrow(numerator, shift, divisor);
            prop_assert!(narrow.is_none() || narrow == wide, "{narrow:?} for {wide:?}");
            prop_assert_eq!(rounded(numerator, shift, divisor), wide);
        }
    }

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

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (numerator, shift, divisor, expected) in [
            (5, 0, 2, 3),
            (-5, 0, 2, -3),
            (5, 0, -2, -3),
            (-5, 0, -2, 3),
            (1, 1, 3, 3),
            (2, 1, 3, 7),
            (149, -2, 1, 1),
            (150, -2, 1, 2),
            (i128::MIN, -38, 1, -2),
        ] {
            assert_eq!(rounded(numerator, shift, divisor), Some(expected), "{numerator}/{divisor}");
        }
        assert_eq!(rounded(1, 38, 1), None, "39 digits");
        assert_eq!(rounded(i128::MIN, 0, -1), None);
        assert_eq!(rounded_narrow(100, 37, 100), None, "intermediate result above 128 bits");
        assert_eq!(rounded(100, 37, 100), Some(POWERS[37]));
    }
}
