//! Functions of floating-point numbers, with PostgreSQL's errors.

use super::degrees;
use super::floats::out_of_range;
use crate::overload::{Overload, overloaded};
use columnar::{Types, checked};
use datafusion::arrow::array::{ArrayRef, AsArray, Float64Array};
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::functions::math;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

const DOUBLE: DataType = DataType::Float64;

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    let one: Types = |_| Ok((vec![DOUBLE], DOUBLE));
    let two: Types = |_| Ok((vec![DOUBLE; 2], DOUBLE));
    vec![
        overloaded(math::signum(), SIGN),
        checked("ln", one, |args| each(args, |x| logarithm(x, f64::ln))),
        checked("log10", one, |args| each(args, |x| logarithm(x, f64::log10))),
        checked("log", |types| Ok((vec![DOUBLE; types.len().clamp(1, 2)], DOUBLE)), log),
        checked("exp", one, |args| each(args, exponential)),
        checked("sqrt", one, |args| each(args, square_root)),
        checked("power", two, |args| pairs(args, power)),
        checked("pow", two, |args| pairs(args, power)),
        checked("acos", one, |args| each(args, |x| within(x, x.abs() > 1.0, f64::acos))),
        checked("asin", one, |args| each(args, |x| within(x, x.abs() > 1.0, f64::asin))),
        checked("acosh", one, |args| each(args, |x| within(x, x < 1.0, f64::acosh))),
        checked("atanh", one, |args| each(args, |x| within(x, x.abs() > 1.0, f64::atanh))),
        checked("sin", one, |args| each(args, |x| within(x, x.is_infinite(), f64::sin))),
        checked("cos", one, |args| each(args, |x| within(x, x.is_infinite(), f64::cos))),
        checked("tan", one, |args| each(args, |x| within(x, x.is_infinite(), f64::tan))),
        checked("cot", one, |args| each(args, |x| within(x, x.is_infinite(), |x| 1.0 / x.tan()))),
        checked("sind", one, |args| each(args, |x| within(x, x.is_infinite(), degrees::sine))),
        checked("cosd", one, |args| each(args, |x| within(x, x.is_infinite(), degrees::cosine))),
        checked("tand", one, |args| each(args, |x| within(x, x.is_infinite(), degrees::tangent))),
        checked("cotd", one, |args| each(args, |x| within(x, x.is_infinite(), degrees::cotangent))),
        checked("asind", one, |args| each(args, |x| within(x, x.abs() > 1.0, degrees::arc_sine))),
        checked("acosd", one, |args| each(args, |x| within(x, x.abs() > 1.0, degrees::arc_cosine))),
        checked("atand", one, |args| each(args, |x| Ok(degrees::of_arc_tangent(x.atan())))),
        checked("atan2d", two, |args| pairs(args, |y, x| Ok(degrees::of_arc_tangent(y.atan2(x))))),
        checked("degrees", one, |args| each(args, |x| scaled(x, x / degrees::RADIANS))),
        checked("radians", one, |args| each(args, |x| scaled(x, x * degrees::RADIANS))),
    ]
}

/// NaN has no sign.
const SIGN: &[Overload] = &[Overload {
    types: |types| match types {
        [of] if of.is_floating() => Some((vec![DOUBLE], DOUBLE)),
        _ => None,
    },
    body: |args| each(args, |x| Ok(if x.is_nan() || x == 0.0 { 0.0 } else { x.signum() })),
}];

fn each(args: &[ArrayRef], compute: impl Fn(f64) -> Result<f64>) -> Result<ArrayRef> {
    let values = args[0].as_primitive::<Float64Type>().iter();
    let values = values.map(|value| value.map(|value| compute(value).map(canonical)).transpose());
    Ok(Arc::new(values.collect::<Result<Float64Array>>()?))
}

fn pairs(args: &[ArrayRef], compute: impl Fn(f64, f64) -> Result<f64>) -> Result<ArrayRef> {
    let right = args[1].as_primitive::<Float64Type>();
    let values = args[0].as_primitive::<Float64Type>().iter().zip(right).map(|(left, right)| {
        left.zip(right).map(|(left, right)| compute(left, right).map(canonical)).transpose()
    });
    Ok(Arc::new(values.collect::<Result<Float64Array>>()?))
}

/// NaN without a sign, since numbers are ordered by their bits.
fn canonical(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value }
}

fn within(value: f64, is_outside: bool, compute: impl Fn(f64) -> f64) -> Result<f64> {
    if is_outside {
        return Err(Error::new(SqlState::NumericValueOutOfRange, "input is out of range"));
    }
    Ok(compute(value))
}

/// A number in another unit.
fn scaled(value: f64, result: f64) -> Result<f64> {
    match result {
        _ if result.is_infinite() && value.is_finite() => Err(out_of_range("overflow")),
        0.0 if value != 0.0 => Err(out_of_range("underflow")),
        _ => Ok(result),
    }
}

fn logarithm(value: f64, compute: impl Fn(f64) -> f64) -> Result<f64> {
    let message = if value == 0.0 {
        "cannot take logarithm of zero"
    } else if value < 0.0 {
        "cannot take logarithm of a negative number"
    } else {
        return Ok(compute(value));
    };
    Err(Error::new(SqlState::InvalidLogarithmArgument, message))
}

/// To base 10, or to the base that comes first.
fn log(args: &[ArrayRef]) -> Result<ArrayRef> {
    if args.len() == 1 {
        return each(args, |value| logarithm(value, f64::log10));
    }
    pairs(args, |base, value| {
        let (base, value) = (logarithm(base, f64::ln)?, logarithm(value, f64::ln)?);
        if base == 0.0 {
            return Err(Error::new(SqlState::DivisionByZero, "division by zero"));
        }
        Ok(value / base)
    })
}

fn exponential(value: f64) -> Result<f64> {
    let result = value.exp();
    match result {
        _ if value.is_infinite() => Ok(result),
        _ if result.is_infinite() => Err(out_of_range("overflow")),
        0.0 => Err(out_of_range("underflow")),
        _ => Ok(result),
    }
}

fn square_root(value: f64) -> Result<f64> {
    if value < 0.0 {
        let message = "cannot take square root of a negative number";
        return Err(Error::new(SqlState::InvalidPowerArgument, message));
    }
    Ok(value.sqrt())
}

fn power(base: f64, exponent: f64) -> Result<f64> {
    let refuse = |message: &str| Err(Error::new(SqlState::InvalidPowerArgument, message));
    if base.is_nan() || exponent.is_nan() {
        return Ok(base.powf(exponent));
    }
    if base == 0.0 && exponent < 0.0 {
        return refuse("zero raised to a negative power is undefined");
    }
    if base < 0.0 && exponent.floor() != exponent {
        return refuse("a negative number raised to a non-integer power yields a complex result");
    }
    let result = base.powf(exponent);
    let were_finite = base.is_finite() && exponent.is_finite();
    match result {
        _ if result.is_infinite() && were_finite => Err(out_of_range("overflow")),
        0.0 if were_finite && base != 0.0 => Err(out_of_range("underflow")),
        _ => Ok(result),
    }
}
