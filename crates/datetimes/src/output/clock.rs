//! Times of day.

use std::fmt::{Arguments, Write};

/// Appends seconds (since midnight, or of a duration) and microseconds as `03:04:05.06`: at least two digits each, the
/// fraction without trailing zeros.
pub fn write_clock(seconds: i64, micros: i64, out: &mut String) {
    push(out, format_args!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
    write_fraction(micros, out);
}

/// Appends `.06`: microseconds without trailing zeros, nothing for zero.
pub(super) fn write_fraction(micros: i64, out: &mut String) {
    if micros != 0 {
        push(out, format_args!(".{micros:06}"));
        out.truncate(out.trim_end_matches('0').len());
    }
}

/// Appends what `format_args!` makes.
pub(super) fn push(out: &mut String, text: Arguments<'_>) {
    out.write_fmt(text).expect("a String takes everything");
}
