//! `numeric` from text: `1.50`, `-.5`, `1e-7`.

use crate::error::{Error, Result, SqlState};
use datafusion::arrow::array::{ArrayRef, AsArray, Decimal128Array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use std::sync::Arc;

/// The maximum number of digits of a numeric.
const DIGITS_MAX: usize = 38;

/// Parses numerics and rounds them to `scale` digits after the point.
///
/// # Errors
/// 22P02: a text is no number. 22003: it has more digits than the type.
pub(crate) fn of_text(texts: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef> {
    let texts = cast(texts, &DataType::Utf8View)?;
    let read = |text: &str| -> Result<i128> {
        let number = parse(text)?;
        let value = number.at_scale(scale.into());
        let limit = 10i128.pow(precision.into());
        value
            .filter(|value| -limit < *value && *value < limit)
            .ok_or_else(too_large(precision, scale))
    };
    let values = texts.as_string_view().iter().map(|value| value.map(read).transpose());
    let values = values.collect::<Result<Decimal128Array>>()?;
    Ok(Arc::new(values.with_precision_and_scale(precision, scale)?))
}

fn too_large(precision: u8, scale: i8) -> impl Fn() -> Error {
    move || {
        let whole = i16::from(precision) - i16::from(scale);
        let detail = format!(
            "A field with precision {precision}, scale {scale} must round to an absolute value less than \
             10^{whole}."
        );
        Error::new(SqlState::NumericValueOutOfRange, "numeric field overflow").with_detail(detail)
    }
}

/// A number as written: its digits, and how many of them are after the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    /// The number without its decimal point.
    pub(crate) unscaled: i128,
    /// Digits after the point; if negative, omitted zeros before it.
    pub(crate) scale: i32,
}

impl Number {
    /// The unscaled number at another scale, rounded half away from zero; `None` on overflow.
    pub(crate) fn at_scale(self, scale: i32) -> Option<i128> {
        let power = |exponent: i32| 10i128.checked_pow(exponent.unsigned_abs());
        match scale - self.scale {
            up @ 0.. if self.unscaled == 0 => Some(0).filter(|_| up >= 0),
            up @ 0.. => self.unscaled.checked_mul(power(up)?),
            down => {
                let Some(unit) = power(down) else { return Some(0) };
                let (whole, rest) = (self.unscaled / unit, self.unscaled % unit);
                let up = rest.abs() >= unit - rest.abs();
                Some(whole + if up { self.unscaled.signum() } else { 0 })
            }
        }
    }
}

/// Parses a number.
///
/// # Errors
/// 22P02: invalid syntax. 22003: more digits before the point than a numeric holds. 0A000: NaN and infinity.
pub(crate) fn parse(text: &str) -> Result<Number> {
    let invalid = || {
        let message = format!("invalid input syntax for type numeric: \"{text}\"");
        Error::new(SqlState::InvalidTextRepresentation, message).at_literal(text)
    };
    let word = text.trim().to_ascii_lowercase();
    let unsigned = word.trim_start_matches(['-', '+']);
    if matches!(unsigned, "nan" | "infinity" | "inf") {
        return Err(Error::unsupported(format!("numeric \"{text}\" is not supported")));
    }
    let (mantissa, exponent) = match word.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().map_err(|_| invalid())?),
        None => (word.as_str(), 0),
    };
    let (negative, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid());
    }
    let mut digits = digits.trim_start_matches('0');
    let mut scale = i32::try_from(fraction.len()).map_err(|_| invalid())? - i32::from(exponent);
    // Digits after the 38th are dropped if they are after the point.
    if digits.len() > DIGITS_MAX {
        let dropped = digits.len() - DIGITS_MAX;
        let behind = usize::try_from(scale).unwrap_or(0);
        if dropped > behind {
            let message = "value overflows numeric format";
            return Err(Error::new(SqlState::NumericValueOutOfRange, message)
                .with_hint("A numeric has at most 38 digits."));
        }
        digits = &digits[..DIGITS_MAX];
        scale -= i32::try_from(dropped).map_err(|_| invalid())?;
    }
    let unscaled: i128 =
        if digits.is_empty() { 0 } else { digits.parse().map_err(|_| invalid())? };
    Ok(Number { unscaled: if negative { -unscaled } else { unscaled }, scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<(i128, i32)> {
        parse(text).ok().map(|number| (number.unscaled, number.scale))
    }

    #[test]
    fn numbers_in_their_forms() {
        assert_eq!(of("1.50"), Some((150, 2)));
        assert_eq!(of(" -.5 "), Some((-5, 1)));
        assert_eq!(of("5."), Some((5, 0)));
        assert_eq!(of("1e-7"), Some((1, 7)));
        assert_eq!(of("4E+8"), Some((4, -8)));
        for text in ["", ".", "e", "1e", "abc", "1.2.3", "--1", "NaN", "0x1f"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn digits_are_rounded_half_away_from_zero() {
        let at = |text, scale| parse(text).ok().and_then(|number| number.at_scale(scale));
        assert_eq!(at("1.005", 2), Some(101));
        assert_eq!(at("-2.5", 0), Some(-3));
        assert_eq!(at("4e8", 2), Some(40_000_000_000));
        assert_eq!(at("1e-60", 10), Some(0));
        assert_eq!(at("1e60", 0), None);
    }
}
