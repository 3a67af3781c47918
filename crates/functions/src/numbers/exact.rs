//! Functions of exact numbers: `div`, scales, `width_bucket`, `to_hex`.

use crate::columnar::{Types, checked};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Int32Array, Int64Array, StringViewArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Field, Float64Type, Int32Type, Int64Type,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

/// Digits behind the point of a numeric without declaration.
const SCALE: u32 = 10;

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    let of_numeric: Types = |types| Ok((vec![numeric(types.first())], DataType::Int32));
    vec![
        checked("div", |_| Ok((vec![plain(); 2], plain())), div),
        checked("scale", of_numeric, |args| scales(args, false)),
        checked("min_scale", of_numeric, |args| scales(args, true)),
        checked(
            "trim_scale",
            |types| Ok((vec![numeric(types.first())], plain())),
            |args| Ok(cast(&args[0], &plain())?),
        ),
        checked("width_bucket", bucket_types, width_bucket),
        checked("numeric_sign", sign_types, sign),
        checked(
            "numeric_factorial",
            |_| Ok((vec![DataType::Int64], DataType::Decimal128(38, 0))),
            factorial,
        ),
        checked("to_hex", hex_types, to_hex),
    ]
}

fn plain() -> DataType {
    SqlType::NUMERIC.arrow()
}

fn numeric(of: Option<&DataType>) -> DataType {
    match of {
        Some(of @ DataType::Decimal128(..)) => of.clone(),
        Some(of) if of.is_integer() => DataType::Decimal128(20, 0),
        _ => plain(),
    }
}

fn zero_division() -> Error {
    Error::new(SqlState::DivisionByZero, "division by zero")
}

/// The whole quotient, towards zero.
fn div(args: &[ArrayRef]) -> Result<ArrayRef> {
    let divisors = args[1].as_primitive::<Decimal128Type>();
    let values =
        args[0].as_primitive::<Decimal128Type>().iter().zip(divisors).map(|(value, by)| {
            let Some((value, by)) = value.zip(by) else { return Ok(None) };
            let quotient = value.checked_div(by).ok_or_else(zero_division)?;
            let quotient = quotient.checked_mul(10_i128.pow(SCALE));
            let too_large =
                || Error::new(SqlState::NumericValueOutOfRange, "numeric field overflow");
            quotient.map(Some).ok_or_else(too_large)
        });
    Ok(Arc::new(values.collect::<Result<Decimal128Array>>()?.with_data_type(plain())))
}

/// The digits behind the point; without trailing zeros if they are not declared, or not wanted.
fn scales(args: &[ArrayRef], trims: bool) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<Decimal128Type>();
    let trims = trims || *values.data_type() == plain();
    let declared = i32::from(values.scale());
    let scale = |mut value: i128| {
        let mut scale = declared;
        while trims && scale > 0 && value % 10 == 0 {
            (value, scale) = (value / 10, scale - 1);
        }
        scale
    };
    Ok(Arc::new(values.iter().map(|value| value.map(scale)).collect::<Int32Array>()))
}

/// With a range and a count, or with the lower bounds of buckets.
fn bucket_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let arguments = match types {
        [_, DataType::List(_)] => vec![DataType::Float64, list_of(DataType::Float64)],
        [of @ .., _] if of.len() == 3 => {
            let is_exact =
                |of: &DataType| matches!(of, DataType::Decimal128(..)) || of.is_integer();
            let has_numeric = of.iter().any(|of| matches!(of, DataType::Decimal128(..)));
            let of = match has_numeric && of.iter().all(is_exact) {
                true => common(of),
                false => DataType::Float64,
            };
            [vec![of; 3], vec![DataType::Int32]].concat()
        }
        _ => {
            let message = format!("function width_bucket does not take {} arguments", types.len());
            return Err(Error::new(SqlState::UndefinedFunction, message));
        }
    };
    Ok((arguments, DataType::Int32))
}

/// The sign of a numeric, as a numeric without digits behind the point.
fn sign_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    Ok((vec![numeric(types.first())], DataType::Decimal128(1, 0)))
}

fn sign(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<Decimal128Type>();
    let signs = values.iter().map(|value| value.map(i128::signum)).collect::<Decimal128Array>();
    Ok(Arc::new(signs.with_precision_and_scale(1, 0)?))
}

fn factorial(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<Int64Type>().iter().map(|value| {
        let Some(value) = value else { return Ok(None) };
        let out_of_range = |message| Err(Error::new(SqlState::NumericValueOutOfRange, message));
        let product = match value {
            ..0 => return out_of_range("factorial of a negative number is undefined"),
            // The largest that has at most 38 digits.
            0..=33 => (1..=i128::from(value)).product(),
            34..=32_177 => {
                return Err(Error::unsupported("numeric of more than 38 digits is not supported"));
            }
            _ => return out_of_range("value overflows numeric format"),
        };
        Ok(Some(product))
    });
    let values = values.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(values.with_precision_and_scale(38, 0)?))
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// The numerics of the largest scale among types.
fn common(types: &[DataType]) -> DataType {
    let scale = types.iter().map(|of| match of {
        DataType::Decimal128(_, scale) => *scale,
        _ => 0,
    });
    DataType::Decimal128(38, scale.max().unwrap_or(0))
}

/// The bucket of numerics of one scale, exactly.
fn numeric_buckets(args: &[ArrayRef]) -> Result<ArrayRef> {
    let numbers = |index: usize| args[index].as_primitive::<Decimal128Type>();
    let (values, lows, highs) = (numbers(0), numbers(1), numbers(2));
    let counts = args[3].as_primitive::<Int32Type>();
    let rows = (0..values.len()).map(|row| {
        if args.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        let (value, low, high) = (values.value(row), lows.value(row), highs.value(row));
        let count = counts.value(row);
        // The sides of a descending range change places, and the value is mirrored.
        let sides =
            if low < high { [(value, low), (high, low)] } else { [(low, value), (low, high)] };
        let [above, width] = sides.map(|(left, right)| left.checked_sub(right));
        if count <= 0 {
            return Err(invalid("count must be greater than zero"));
        }
        let too_large = || Error::new(SqlState::NumericValueOutOfRange, "integer out of range");
        let (above, width) = above.zip(width).ok_or_else(too_large)?;
        if width == 0 {
            return Err(invalid("lower bound cannot equal upper bound"));
        }
        if above < 0 {
            return Ok(Some(0));
        }
        if above >= width {
            return count.checked_add(1).map(Some).ok_or_else(too_large);
        }
        let bucket = above.checked_mul(count.into()).ok_or_else(too_large)? / width;
        i32::try_from(bucket + 1).map(Some).map_err(|_| too_large())
    });
    Ok(Arc::new(rows.collect::<Result<Int32Array>>()?))
}

fn width_bucket(args: &[ArrayRef]) -> Result<ArrayRef> {
    if matches!(args[0].data_type(), DataType::Decimal128(..)) {
        return numeric_buckets(args);
    }
    let values = args[0].as_primitive::<Float64Type>();
    let rows = (0..values.len()).map(|row| {
        if args.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        let value = values.value(row);
        if args.len() == 2 {
            return lower_bounds(value, &args[1].as_list::<i32>().value(row)).map(Some);
        }
        let bound = |index: usize| args[index].as_primitive::<Float64Type>().value(row);
        let count = args[3].as_primitive::<Int32Type>().value(row);
        equal_buckets(value, bound(1), bound(2), count).map(Some)
    });
    Ok(Arc::new(rows.collect::<Result<Int32Array>>()?))
}

fn invalid(message: &str) -> Error {
    Error::new(SqlState::InvalidWidthBucketArgument, message)
}

fn equal_buckets(value: f64, low: f64, high: f64, count: i32) -> Result<i32> {
    if count <= 0 {
        return Err(invalid("count must be greater than zero"));
    }
    if value.is_nan() || low.is_nan() || high.is_nan() {
        return Err(invalid("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(invalid("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(invalid("lower bound cannot equal upper bound"));
    }
    let too_many = || Error::new(SqlState::NumericValueOutOfRange, "integer out of range");
    let is_ascending = low < high;
    if if is_ascending { value < low } else { value > low } {
        return Ok(0);
    }
    if if is_ascending { value >= high } else { value <= high } {
        return count.checked_add(1).ok_or_else(too_many);
    }
    let bucket = f64::from(count) * ((value - low) / (high - low));
    Ok((bucket as i32).min(count - 1) + 1)
}

fn lower_bounds(value: f64, bounds: &ArrayRef) -> Result<i32> {
    if bounds.null_count() > 0 {
        let message = "thresholds array must not contain NULLs";
        return Err(Error::new(SqlState::NullValueNotAllowed, message));
    }
    let bounds = bounds.as_primitive::<Float64Type>().values();
    let below = bounds.partition_point(|bound| bound.total_cmp(&value).is_le());
    Ok(i32::try_from(below).unwrap_or(i32::MAX))
}

fn hex_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let of = match types {
        [DataType::Int8 | DataType::Int16 | DataType::Int32] => DataType::Int32,
        _ => DataType::Int64,
    };
    Ok((vec![of], DataType::Utf8View))
}

fn to_hex(args: &[ArrayRef]) -> Result<ArrayRef> {
    let texts: StringViewArray = match args[0].data_type() {
        DataType::Int32 => {
            let values = args[0].as_primitive::<Int32Type>().iter();
            values.map(|value| value.map(|value| format!("{value:x}"))).collect()
        }
        _ => {
            let values: &Int64Array = args[0].as_primitive::<Int64Type>();
            values.iter().map(|value| value.map(|value| format!("{value:x}"))).collect()
        }
    };
    Ok(Arc::new(texts))
}
