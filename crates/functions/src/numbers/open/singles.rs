//! Functions of one number, some together with whole numbers.

use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array};
use datafusion::arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use executor::check;
use numerics::Numeric;
use std::sync::Arc;
use values::error::Result;
use values::numbers::{Numbers, OPEN, nulls_of, of_rows};

const TYPES: Types = |types| Ok((types.to_vec(), OPEN));
const COUNTS: Types = |types| Ok((types.to_vec(), DataType::Int32));
const WITH_DIGITS: Types = |types| Ok((vec![types[0].clone(), DataType::Int32], OPEN));
const BUCKETS: Types = |types| Ok(([&types[..3], &[DataType::Int32]].concat(), DataType::Int32));

/// The functions of this file.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![
        function("numeric_neg", TYPES, |args| each(args, |number| Ok(number.neg()))),
        function("numeric_abs", TYPES, |args| each(args, |number| Ok(number.abs()))),
        function("numeric_signum", TYPES, |args| each(args, |number| Ok(number.signum()))),
        function("numeric_ceil", TYPES, |args| each(args, Numeric::ceil)),
        function("numeric_floor", TYPES, |args| each(args, Numeric::floor)),
        function("numeric_sqrt", TYPES, |args| each(args, Numeric::sqrt)),
        function("numeric_exp", TYPES, |args| each(args, Numeric::exp)),
        function("numeric_ln", TYPES, |args| each(args, Numeric::ln)),
        function("numeric_log10", TYPES, |args| each(args, Numeric::log10)),
        function("numeric_trim_scale", TYPES, |args| each(args, |number| Ok(number.trim_scale()))),
        function("numeric_round", WITH_DIGITS, |args| with_digits(args, Numeric::round)),
        function("numeric_trunc", WITH_DIGITS, |args| with_digits(args, Numeric::trunc)),
        function("numeric_scale", COUNTS, |args| counts(args, Numeric::scale)),
        function("numeric_min_scale", COUNTS, |args| counts(args, Numeric::min_scale)),
        function("numeric_factorial", |_| Ok((vec![DataType::Int64], OPEN)), factorial),
        function("numeric_bucket", BUCKETS, buckets),
    ]
}

type Made = std::result::Result<Numeric, numerics::Error>;

fn each(args: &[ArrayRef], make: fn(&Numeric) -> Made) -> Result<ArrayRef> {
    let numbers = Numbers::new(&args[0])?;
    of_rows(args, |row| {
        check()?;
        Ok(Some(make(&numbers.number(row)?)?))
    })
}

fn with_digits(args: &[ArrayRef], make: fn(&Numeric, i32) -> Made) -> Result<ArrayRef> {
    let (numbers, digits) = (Numbers::new(&args[0])?, args[1].as_primitive::<Int32Type>());
    of_rows(args, |row| Ok(Some(make(&numbers.number(row)?, digits.value(row))?)))
}

fn factorial(args: &[ArrayRef]) -> Result<ArrayRef> {
    let numbers = args[0].as_primitive::<Int64Type>();
    of_rows(args, |row| {
        check()?;
        Ok(Some(Numeric::factorial(numbers.value(row))?))
    })
}

/// Whole numbers that are made of some arrays row by row; NULL where one of them is.
fn whole(
    args: &[ArrayRef],
    mut make: impl FnMut(usize) -> Result<Option<i32>>,
) -> Result<ArrayRef> {
    let nulls = nulls_of(args);
    let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
    let made = (0..args[0].len()).map(|row| if is_null(row) { Ok(None) } else { make(row) });
    Ok(Arc::new(made.collect::<Result<Int32Array>>()?))
}

fn counts(args: &[ArrayRef], count: fn(&Numeric) -> Option<i32>) -> Result<ArrayRef> {
    let numbers = Numbers::new(&args[0])?;
    whole(args, |row| Ok(count(&numbers.number(row)?)))
}

fn buckets(args: &[ArrayRef]) -> Result<ArrayRef> {
    let [of, first, second] = [&args[0], &args[1], &args[2]].map(Numbers::new);
    let (of, first, second) = (of?, first?, second?);
    let count = args[3].as_primitive::<Int32Type>();
    whole(args, |row| {
        let (first, second) = (first.number(row)?, second.number(row)?);
        Ok(Some(of.number(row)?.width_bucket(&first, &second, count.value(row))?))
    })
}
