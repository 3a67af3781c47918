//! `interval` from text.

use crate::style::IntervalStyle;
use datafusion::arrow::datatypes::IntervalMonthDayNano;
use datetimes::{DatetimeError, interval};

const NANOS_PER_MICRO: i64 = 1000;

/// Parses an interval of a type with a modifier, or of any for less than 0.
///
/// # Errors
/// The text is no interval, or it is out of range.
pub fn parse(
    text: &str,
    modifier: i32,
    style: IntervalStyle,
) -> Result<IntervalMonthDayNano, DatetimeError> {
    let read = interval::parse(text, modifier, style == IntervalStyle::Standard)?;
    let nanos = read.micros.checked_mul(NANOS_PER_MICRO).ok_or(DatetimeError::Unheld)?;
    Ok(IntervalMonthDayNano::new(read.months, read.days, nanos))
}
