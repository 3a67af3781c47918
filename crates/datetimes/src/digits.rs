//! Numbers at the beginning of a text.

use crate::DatetimeError;

/// An integer with an optional sign, of 32 bits, and what is behind it. Without digits it is 0.
///
/// # Errors
/// The number is too large.
pub(crate) fn integer(text: &str) -> Result<(i64, &str), DatetimeError> {
    let (number, rest) = long(text)?;
    i32::try_from(number).map_err(|_| DatetimeError::Field)?;
    Ok((number, rest))
}

/// An integer with an optional sign, of 64 bits, and what is behind it. Without digits it is 0.
///
/// # Errors
/// The number is too large.
pub(crate) fn long(text: &str) -> Result<(i64, &str), DatetimeError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = unsigned.len() - unsigned.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits == 0 {
        return Ok((0, text));
    }
    let (number, rest) = text.split_at(text.len() - unsigned.len() + digits);
    Ok((number.parse().map_err(|_| DatetimeError::Field)?, rest))
}

/// A fraction: a point and digits, and nothing behind them.
///
/// # Errors
/// There is something else.
pub(crate) fn fraction(text: &str) -> Result<f64, DatetimeError> {
    match text {
        "." => Ok(0.0),
        text if text.bytes().skip(1).all(|b| b.is_ascii_digit()) => {
            text.parse().map_err(|_| DatetimeError::Syntax)
        }
        _ => Err(DatetimeError::Syntax),
    }
}

/// A fraction of a second, in microseconds. What is in the middle as a floating-point number goes to the even number.
///
/// # Errors
/// As [`fraction`].
pub(crate) fn micros(text: &str) -> Result<i64, DatetimeError> {
    Ok((fraction(text)? * 1e6).round_ties_even() as i64)
}
