//! Floating-point numbers: in the fewest digits that read back as the same number, or with the digits that
//! `extra_float_digits` asks for.
//!
//! PostgreSQL writes up to 15 digits (6 for `real`) before the point. Larger and very small numbers
//! have an exponent of at least two digits: `1e+20`, `1.5e-05`.

use super::push;
use crate::style::FloatDigits;

/// The smallest `double precision` that is written with an exponent.
const DOUBLE_EXPONENT_FROM: f64 = 1e15;
/// The smallest `real` that is written with an exponent.
const REAL_EXPONENT_FROM: f32 = 1e6;

/// The decimal digits that every `double precision` and every `real` keeps.
const DOUBLE_DIGITS: i32 = 15;
const REAL_DIGITS: i32 = 6;

/// Appends a `double precision`.
pub(super) fn write_double(value: f64, digits: FloatDigits, out: &mut String) {
    if !value.is_finite() {
        return write_special(value, out);
    }
    if let FloatDigits::Extra(extra) = digits {
        return write_rounded(value, DOUBLE_DIGITS + i32::from(extra), out);
    }
    let size = value.abs();
    if size >= DOUBLE_EXPONENT_FROM || (size < 1e-4 && size != 0.0) {
        let start = out.len();
        push(out, format_args!("{value:e}"));
        pad_exponent(start, out);
    } else {
        push(out, value);
    }
}

/// Appends a `real`.
pub(super) fn write_real(value: f32, digits: FloatDigits, out: &mut String) {
    if !value.is_finite() {
        return write_special(value.into(), out);
    }
    if let FloatDigits::Extra(extra) = digits {
        return write_rounded(value.into(), REAL_DIGITS + i32::from(extra), out);
    }
    let size = value.abs();
    if size >= REAL_EXPONENT_FROM || (size < 1e-4 && size != 0.0) {
        let start = out.len();
        push(out, format_args!("{value:e}"));
        pad_exponent(start, out);
    } else {
        push(out, value);
    }
}

/// Appends a number with at most some digits and without trailing zeros, as the format `%g` of C.
fn write_rounded(value: f64, digits: i32, out: &mut String) {
    let digits = digits.max(1);
    let decimals = |places: i32| usize::try_from(places).unwrap_or(0);
    let start = out.len();
    push(out, format_args!("{value:.*e}", decimals(digits - 1)));
    let at = out[start..].find('e').map_or(out.len(), |e| start + e);
    let exponent: i32 = out.get(at + 1..).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    if (-4..digits).contains(&exponent) {
        out.truncate(start);
        push(out, format_args!("{value:.*}", decimals(digits - 1 - exponent)));
        trim_zeros(start, out);
        return;
    }
    let power = out.split_off(at);
    trim_zeros(start, out);
    out.push_str(&power);
    pad_exponent(start, out);
}

/// Removes zeros behind the point of the number from `start` on, and the point if nothing is behind it.
fn trim_zeros(start: usize, out: &mut String) {
    if out[start..].contains('.') {
        out.truncate(out.trim_end_matches('0').trim_end_matches('.').len());
    }
}

fn write_special(value: f64, out: &mut String) {
    out.push_str(match value {
        value if value.is_nan() => "NaN",
        f64::NEG_INFINITY => "-Infinity",
        _ => "Infinity",
    });
}

/// Pads the exponent of the number from `start` on to a sign and two digits: `1e5` to `1e+05`.
fn pad_exponent(start: usize, out: &mut String) {
    let Some(at) = out[start..].find('e').map(|e| start + e + 1) else { return };
    let at = if out[at..].starts_with('-') {
        at + 1
    } else {
        out.insert(at, '+');
        at + 1
    };
    if out.len() - at < 2 {
        out.insert(at, '0');
    }
}
