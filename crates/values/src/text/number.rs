//! `numeric` values.

/// Appends `unscaled / 10^scale` with exactly `scale` digits after the point.
pub(super) fn write_decimal(unscaled: i128, scale: i8, out: &mut String) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(unscaled.unsigned_abs());
    if unscaled < 0 {
        out.push('-');
    }
    let Ok(scale) = usize::try_from(scale) else {
        return write_multiple(digits, scale.unsigned_abs(), out);
    };
    if scale == 0 {
        return out.push_str(digits);
    }
    let whole = digits.len().saturating_sub(scale);
    out.push_str(if whole == 0 { "0" } else { &digits[..whole] });
    out.push('.');
    out.extend(std::iter::repeat_n('0', scale.saturating_sub(digits.len())));
    out.push_str(&digits[whole..]);
}

/// Appends digits and the zeros that a negative scale omits.
fn write_multiple(digits: &str, zeros: u8, out: &mut String) {
    out.push_str(digits);
    if digits != "0" {
        out.extend(std::iter::repeat_n('0', zeros.into()));
    }
}
