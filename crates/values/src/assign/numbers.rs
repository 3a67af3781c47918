//! Numbers with a scale each as values of another type.

use crate::error::{Error, Result, SqlState};
use crate::numbers::{self, Numbers};
use crate::text::TextColumn;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, ListArray, PrimitiveArray, StringViewBuilder,
};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, Field, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type,
};
use numerics::Numeric;
use std::sync::Arc;
use store::catalog::SqlType;

/// Converts numbers to a type.
///
/// # Errors
/// 22003: a number is out of the type's range. 0A000: NaN and infinities, where the type has none. 42846: there is no cast.
pub(super) fn of_numbers(array: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    match sql_type {
        SqlType::SmallInt => each::<Int16Type>(array, Numeric::to_i16),
        SqlType::Integer => each::<Int32Type>(array, Numeric::to_i32),
        SqlType::BigInt => each::<Int64Type>(array, Numeric::to_i64),
        SqlType::Real => each::<Float32Type>(array, Numeric::to_f32),
        SqlType::Double => each::<Float64Type>(array, Numeric::to_f64),
        SqlType::Numeric { precision, scale } => decimals(array, *precision, *scale),
        SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_) => texts(array),
        other => {
            let message = format!("cannot cast type numeric to {other}");
            Err(Error::new(SqlState::CannotCoerce, message))
        }
    }
}

fn each<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: fn(&Numeric) -> std::result::Result<T::Native, numerics::Error>,
) -> Result<ArrayRef> {
    let numbers = Numbers::new(array)?;
    let values = (0..array.len()).map(|row| match array.is_null(row) {
        true => Ok(None),
        false => Ok(Some(convert(&numbers.number(row)?)?)),
    });
    Ok(Arc::new(values.collect::<Result<PrimitiveArray<T>>>()?))
}

/// The decimals of a column.
fn decimals(array: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef> {
    let numbers = Numbers::new(array)?;
    let values = (0..array.len()).map(|row| match array.is_null(row) {
        true => Ok(None),
        false => decimal(&numbers.number(row)?, precision, scale).map(Some),
    });
    let values = values.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(values.with_precision_and_scale(precision, scale)?))
}

/// The decimals that texts write, rounded to a scale.
///
/// # Errors
/// 22P02: a text is no number. 22003: it has more digits than the type. 0A000: NaN.
pub(super) fn decimals_of_texts(texts: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef> {
    let column = TextColumn::new(texts)?;
    let mut text = String::new();
    let values = (0..texts.len()).map(|row| {
        text.clear();
        match column.write(row, &mut text) {
            true => decimal(&parsed(&text)?, precision, scale).map(Some),
            false => Ok(None),
        }
    });
    let values = values.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(values.with_precision_and_scale(precision, scale)?))
}

fn decimal(number: &Numeric, precision: u8, scale: i8) -> Result<i128> {
    if number.is_nan() {
        let message = "a numeric with a declared precision cannot hold NaN";
        return Err(Error::unsupported(message)
            .with_hint("The type numeric without precision and scale can."));
    }
    Ok(number.to_decimal(precision, scale)?)
}

fn parsed(text: &str) -> Result<Numeric> {
    Numeric::parse(text).map_err(|error| Error::from(error).at_literal(text))
}

fn texts(array: &ArrayRef) -> Result<ArrayRef> {
    let column = TextColumn::new(array)?;
    let mut builder = StringViewBuilder::with_capacity(array.len());
    let mut text = String::new();
    for row in 0..array.len() {
        text.clear();
        match column.write(row, &mut text) {
            true => builder.append_value(&text),
            false => builder.append_null(),
        }
    }
    Ok(Arc::new(builder.finish()))
}

/// Numbers of any type, their texts, or arrays of them, with a scale each.
///
/// # Errors
/// 22P02: a text is no number. 0A000: the values are neither numbers nor texts.
pub fn opened(array: &ArrayRef) -> Result<ArrayRef> {
    if let Some(lists) = array.as_list_opt::<i32>() {
        let items = opened(lists.values())?;
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        let (_, offsets, _, nulls) = lists.clone().into_parts();
        return Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?));
    }
    if !array.data_type().is_string() {
        return numbers::opened(array);
    }
    let column = TextColumn::new(array)?;
    let mut text = String::new();
    let values = (0..array.len()).map(|row| {
        text.clear();
        match column.write(row, &mut text) {
            true => parsed(&text).map(Some),
            false => Ok(None),
        }
    });
    numbers::collect(values.collect::<Vec<_>>().into_iter())
}
