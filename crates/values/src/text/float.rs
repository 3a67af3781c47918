//! Floating-point numbers in the fewest digits that read back as the same number.
//!
//! PostgreSQL writes up to 15 digits (6 for `real`) before the point. Larger and very small numbers
//! have an exponent of at least two digits: `1e+20`, `1.5e-05`.

use super::push;

/// The smallest `double precision` that is written with an exponent.
const DOUBLE_EXPONENT_FROM: f64 = 1e15;
/// The smallest `real` that is written with an exponent.
const REAL_EXPONENT_FROM: f32 = 1e6;

/// Appends a `double precision`.
pub(super) fn write_double(value: f64, out: &mut String) {
    if !value.is_finite() {
        return write_special(value, out);
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
pub(super) fn write_real(value: f32, out: &mut String) {
    if !value.is_finite() {
        return write_special(value.into(), out);
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
