//! `width_bucket` of floating-point numbers, and `to_hex`.

use columnar::checked;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Float64Type, Int32Type, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![checked("width_bucket", bucket_types, width_bucket), checked("to_hex", hex_types, to_hex)]
}

/// With a range and a count.
fn bucket_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    if types.len() != 4 {
        let message = format!("function width_bucket does not take {} arguments", types.len());
        return Err(Error::new(SqlState::UndefinedFunction, message));
    }
    Ok(([vec![DataType::Float64; 3], vec![DataType::Int32]].concat(), DataType::Int32))
}

fn width_bucket(args: &[ArrayRef]) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<Float64Type>();
    let rows = (0..values.len()).map(|row| {
        if args.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        let bound = |index: usize| args[index].as_primitive::<Float64Type>().value(row);
        let count = args[3].as_primitive::<Int32Type>().value(row);
        equal_buckets(bound(0), bound(1), bound(2), count).map(Some)
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
    // A range that is wider than the largest number is divided before it is made.
    let part = match (high - low).is_finite() {
        true => (value - low) / (high - low),
        false => (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0),
    };
    Ok(((f64::from(count) * part) as i32).min(count - 1) + 1)
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
