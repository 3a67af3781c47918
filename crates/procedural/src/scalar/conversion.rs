//! Conversions of one value.

use super::Stop;
use super::datum::Datum;
use super::integers::Size;
use super::moments::Part;
use super::numbers;
use std::borrow::Cow;

/// The most digits of a text that is read as an integer.
const DIGITS_MAX: usize = 18;

/// A conversion of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Conversion {
    /// A number, or the text of an integer, to an integer of a size.
    Integer(Size),
    /// A number to double precision.
    Double,
    /// An integer, or the text of a number, to a decimal number.
    Number,
    /// An integer, a decimal number or a boolean to its text.
    Text,
    /// A text to the number of its characters.
    Length,
    /// An integer of a size to its absolute value.
    Absolute(Size),
    /// A date or a timestamp to a field of it.
    Part(Part),
}

impl Conversion {
    /// The converted value. `None` if it is of another type, or not simple.
    pub(super) fn apply(self, value: Datum<'_>) -> Result<Option<Datum<'static>>, Stop> {
        Ok(Some(match (self, value) {
            (Self::Integer(size), Datum::Integer(value)) => {
                Datum::Integer(size.checked(Some(value))?)
            }
            (Self::Integer(size), Datum::Double(value)) => {
                let rounded = value.round_ties_even();
                // Both bounds are exact.
                let is_long =
                    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded);
                Datum::Integer(size.checked(is_long.then_some(rounded as i64))?)
            }
            (Self::Integer(size), Datum::Number(digits, scale)) => {
                match numbers::rounded((digits, scale), 0) {
                    Some((whole, 0)) => Datum::Integer(size.checked(i64::try_from(whole).ok())?),
                    _ => return Ok(None),
                }
            }
            (Self::Integer(size), Datum::Text(text)) => return Ok(integer(&text, size)),
            (Self::Double, Datum::Integer(value)) => Datum::Double(value as f64),
            (Self::Number, Datum::Integer(value)) => Datum::Number(i128::from(value), 0),
            (Self::Number, Datum::Text(text)) => {
                return Ok(
                    numbers::parsed(&text).map(|(digits, scale)| Datum::Number(digits, scale))
                );
            }
            (Self::Length, Datum::Text(text)) => {
                let length = i64::try_from(text.chars().count()).ok();
                Datum::Integer(Size::Usual.checked(length)?)
            }
            (Self::Absolute(size), Datum::Integer(value)) => {
                Datum::Integer(size.checked(value.checked_abs())?)
            }
            (Self::Text, Datum::Integer(value)) => Datum::Text(Cow::Owned(value.to_string())),
            (Self::Text, Datum::Number(digits, scale)) => {
                Datum::Text(Cow::Owned(numbers::written(digits, scale)))
            }
            (Self::Text, Datum::Truth(true)) => Datum::Text(Cow::Borrowed("true")),
            (Self::Text, Datum::Truth(false)) => Datum::Text(Cow::Borrowed("false")),
            (Self::Part(part), Datum::Integer(value)) => return Ok(part.of_value(value)),
            _ => return Ok(None),
        }))
    }
}

/// The integer that a text of nothing but digits and a sign is. `None` for other texts, and for numbers out of range.
fn integer(text: &str, size: Size) -> Option<Datum<'static>> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = (1..=DIGITS_MAX).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_number.then(|| text.parse().ok()).flatten();
    size.checked(number).ok().map(Datum::Integer)
}
