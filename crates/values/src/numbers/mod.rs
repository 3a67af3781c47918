//! Columns of exact numbers: integers, decimals of one scale, and numbers with a scale of their own.
//!
//! Arrow's decimals have one scale for all values of a column. A `numeric` whose values differ in it is held as bytes
//! ([`numerics::Numeric::encode`]), in arrays of type [`OPEN`], which nothing else has.

use crate::error::{Error, Result, SqlState};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, LargeBinaryArray, LargeBinaryBuilder,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use datafusion::common::ScalarValue;
use numerics::Numeric;
use std::sync::Arc;
use store::catalog::SqlType;

/// The Arrow type of numbers that have a scale each.
pub const OPEN: DataType = DataType::LargeBinary;

/// The most digits of a decimal.
pub(crate) const DIGITS_MAX: u8 = 38;

/// Whether a key of a number is that of NaN.
pub fn is_key_of_nan(key: &[u8]) -> bool {
    Numeric::is_key_of_nan(key)
}

/// Whether values of an Arrow type are numbers that have a scale each.
pub fn is_open(data_type: &DataType) -> bool {
    *data_type == OPEN
}

/// Whether values of an Arrow type are numbers.
pub fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || is_open(data_type)
}

/// Whether all values of an Arrow type are numbers with as many digits behind the point as the type says.
pub fn has_one_scale(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal128(_, scale) if *scale >= 0)
}

/// Reads the numbers of an array.
pub struct Numbers<'a>(Source<'a>);

enum Source<'a> {
    Nulls,
    Integers(Box<dyn Fn(usize) -> i128 + 'a>),
    Decimals(&'a Decimal128Array, i32),
    Reals(&'a ArrayRef),
    Doubles(&'a ArrayRef),
    Open(&'a LargeBinaryArray),
}

/// A number of an array, which decimals and integers give without a conversion.
pub enum Found {
    /// A coefficient, and its digits behind the point.
    Small(i128, i32),
    /// Any number.
    Number(Numeric),
}

impl<'a> Numbers<'a> {
    /// Resolves the type of an array.
    ///
    /// # Errors
    /// 0A000: the array has no numbers.
    pub fn new(array: &'a ArrayRef) -> Result<Self> {
        Ok(Self(match array.data_type() {
            DataType::Null => Source::Nulls,
            DataType::Int8 => integers::<Int8Type>(array),
            DataType::Int16 => integers::<Int16Type>(array),
            DataType::Int32 => integers::<Int32Type>(array),
            DataType::Int64 => integers::<Int64Type>(array),
            DataType::UInt8 => integers::<UInt8Type>(array),
            DataType::UInt16 => integers::<UInt16Type>(array),
            DataType::UInt32 => integers::<UInt32Type>(array),
            DataType::UInt64 => integers::<UInt64Type>(array),
            DataType::Decimal128(_, scale) => {
                Source::Decimals(array.as_primitive::<Decimal128Type>(), (*scale).into())
            }
            DataType::Float32 => Source::Reals(array),
            DataType::Float64 => Source::Doubles(array),
            of if is_open(of) => Source::Open(array.as_binary::<i64>()),
            other => {
                return Err(Error::unsupported(format!(
                    "numbers of type {other} are not supported"
                )));
            }
        }))
    }

    /// The number at a row, which is not NULL.
    ///
    /// # Errors
    /// XX001: the bytes are not those of a number.
    pub fn found(&self, row: usize) -> Result<Found> {
        Ok(match &self.0 {
            Source::Nulls => Found::Small(0, 0),
            Source::Integers(at) => Found::Small(at(row), 0),
            Source::Decimals(values, scale) => Found::Small(values.value(row), *scale),
            Source::Reals(values) => {
                Found::Number(Numeric::from_f32(values.as_primitive::<Float32Type>().value(row)))
            }
            Source::Doubles(values) => {
                Found::Number(Numeric::from_f64(values.as_primitive::<Float64Type>().value(row)))
            }
            Source::Open(values) => Found::Number(read(values.value(row))?),
        })
    }

    /// The number at a row, which is not NULL.
    ///
    /// # Errors
    /// XX001: the bytes are not those of a number.
    pub fn number(&self, row: usize) -> Result<Numeric> {
        Ok(match self.found(row)? {
            Found::Small(coefficient, scale) => Numeric::from_i128(coefficient, scale),
            Found::Number(number) => number,
        })
    }
}

fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef) -> Source<'_> {
    let values = array.as_primitive::<T>();
    Source::Integers(Box::new(|row| values.value(row).into()))
}

/// The rows in which one of some arrays is NULL; `None` if there are none.
pub fn nulls_of(arrays: &[ArrayRef]) -> Option<NullBuffer> {
    let nulls = arrays.iter().map(|array| array.logical_nulls());
    nulls.fold(None, |all, nulls| NullBuffer::union(all.as_ref(), nulls.as_ref()))
}

/// Numbers with a scale each that are made of some arrays row by row; NULL where one of them is.
///
/// # Errors
/// The first of the values.
pub fn of_rows(
    arrays: &[ArrayRef],
    mut make: impl FnMut(usize) -> Result<Option<Numeric>>,
) -> Result<ArrayRef> {
    let nulls = nulls_of(arrays);
    let rows = arrays.first().map_or(0, |array| array.len());
    collect((0..rows).map(|row| match nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
        true => Ok(None),
        false => make(row),
    }))
}

/// Numbers with the precision and scale of a modifier of `numeric`.
///
/// # Errors
/// 22003: a number has more digits.
pub fn with_precision(array: &ArrayRef, modifier: u32) -> Result<ArrayRef> {
    let (precision, scale) = SqlType::numeric_digits(modifier);
    let numbers = Numbers::new(array)?;
    of_rows(std::slice::from_ref(array), |row| {
        Ok(Some(numbers.number(row)?.with_precision(precision, scale)?))
    })
}

/// The number that bytes are.
///
/// # Errors
/// XX001: they are not those of a number.
pub fn read(bytes: &[u8]) -> Result<Numeric> {
    let damaged = |_| Error::new(SqlState::DataCorrupted, "the bytes of a numeric are damaged");
    Numeric::decode(bytes).map_err(damaged)
}

/// The bytes of a number.
pub fn bytes_of(number: &Numeric) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24);
    number.encode(&mut bytes);
    bytes
}

/// A constant: a decimal if it fits, which most of the engine's functions take.
pub fn scalar(number: &Numeric) -> ScalarValue {
    let decimal = || {
        let (coefficient, scale) = number.small_parts()?;
        let digits = coefficient.unsigned_abs().checked_ilog10().unwrap_or(0) + 1;
        let precision = u8::try_from(digits.max(scale)).ok().filter(|all| *all <= DIGITS_MAX)?;
        let value =
            ScalarValue::Decimal128(Some(coefficient), precision, i8::try_from(scale).ok()?);
        has_one_scale(&value.data_type()).then_some(value)
    };
    decimal().unwrap_or_else(|| constant(number))
}

/// The constant that a text writes; `None` for texts that are no numbers.
pub fn of_text(text: &str) -> Option<ScalarValue> {
    Numeric::parse(text).ok().map(|number| scalar(&number))
}

/// A constant with a scale of its own.
pub fn constant(number: &Numeric) -> ScalarValue {
    ScalarValue::LargeBinary(Some(bytes_of(number)))
}

/// An array of numbers that have a scale each.
///
/// # Errors
/// The first of the values.
pub fn collect(
    numbers: impl ExactSizeIterator<Item = Result<Option<Numeric>>>,
) -> Result<ArrayRef> {
    let mut builder = LargeBinaryBuilder::with_capacity(numbers.len(), numbers.len() * 12);
    let mut bytes = Vec::with_capacity(24);
    for number in numbers {
        match number? {
            Some(number) => {
                bytes.clear();
                number.encode(&mut bytes);
                builder.append_value(&bytes);
            }
            None => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// The same numbers with a scale each: as their type shows them.
///
/// # Errors
/// 0A000: the array has no numbers.
pub fn opened(array: &ArrayRef) -> Result<ArrayRef> {
    if is_open(array.data_type()) {
        return Ok(Arc::clone(array));
    }
    let numbers = Numbers::new(array)?;
    of_rows(std::slice::from_ref(array), |row| numbers.number(row).map(Some))
}

/// Whether a type is one of numbers with a scale each, or of arrays of them.
pub fn holds_open(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) => holds_open(item.data_type()),
        other => is_open(other),
    }
}

impl From<numerics::Error> for Error {
    fn from(error: numerics::Error) -> Self {
        let state = SqlState::of_code(error.sqlstate()).unwrap_or(SqlState::DataException);
        let converted = Self::new(state, error.to_string());
        match error.detail() {
            Some(detail) => converted.with_detail(detail),
            None => converted,
        }
    }
}
