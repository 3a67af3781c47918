//! Constants as plain values. Those whose meaning a setting may change are left to the engine.

use super::datum::Datum;
use super::integers::Size;
use super::numbers;
use std::borrow::Cow;
use store::catalog::SqlType;
use typed_tree::Literal;
use values::input::interval;
use values::moments;
use values::style::IntervalStyle;
use values::text::days_of;

const MICROS_PER_SECOND: i64 = 1_000_000;

/// A constant of a type. `None` if it is not simple.
pub(super) fn constant(literal: &Literal, of: &SqlType) -> Option<Datum<'static>> {
    Some(match (literal, of) {
        (Literal::Null, _) => Datum::Null,
        (Literal::Boolean(truth), SqlType::Boolean) => Datum::Truth(*truth),
        (Literal::Integer(number), of) if let Some(size) = Size::of(of) => {
            Datum::Integer(size.checked(Some(*number)).ok()?)
        }
        (Literal::Text(text), of) => written(text, of)?,
        _ => return None,
    })
}

fn written(text: &str, of: &SqlType) -> Option<Datum<'static>> {
    Some(match of {
        SqlType::Text | SqlType::Varchar(None) => Datum::Text(Cow::Owned(text.to_owned())),
        SqlType::Boolean => match text {
            "t" | "true" => Datum::Truth(true),
            "f" | "false" => Datum::Truth(false),
            _ => return None,
        },
        SqlType::Numeric { .. } => {
            let (digits, scale) = numbers::parsed(text)?;
            Datum::Number(digits, scale)
        }
        SqlType::Double => {
            let number: f64 = text.parse().ok()?;
            let has_digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            has_digits.then_some(Datum::Double(number))?
        }
        SqlType::Date => Datum::Integer(date(text)?),
        SqlType::Timestamp => Datum::Integer(timestamp(text)?),
        SqlType::Interval if text.bytes().all(is_of_span) => {
            Datum::Span(interval::parse(text, -1, IntervalStyle::Postgres).ok()?)
        }
        of => Datum::Integer(Size::of(of)?.checked(text.parse().ok()).ok()?),
    })
}

/// Whether an interval with only such characters means the same in all styles.
fn is_of_span(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b':' | b'.')
}

/// The days of a date that is written as `2024-12-31`.
fn date(text: &str) -> Option<i64> {
    let [year, month, day] = fields(text, '-', [4, 2, 2])?;
    let days = (year > 0).then(|| days_of(year, month, day)).flatten()?;
    moments::date(days).map(i64::from)
}

/// The microseconds of a timestamp that is written as `2024-12-31 23:59:59`, or as a date.
fn timestamp(text: &str) -> Option<i64> {
    let Some((day, time)) = text.split_once(' ') else { return moments::on_day(date(text)?, 0) };
    let [hour, minute, second] = fields(time, ':', [2, 2, 2])?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let seconds = (hour * 60 + minute) * 60 + second;
    moments::on_day(date(day)?, seconds * MICROS_PER_SECOND)
}

/// Three numbers of so many digits each.
fn fields(text: &str, between: char, digits: [usize; 3]) -> Option<[i64; 3]> {
    let mut parts = text.split(between);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        *number = is_number.then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_way_to_write_a_date_is_known() {
        assert_eq!(date("1970-01-02"), Some(1));
        assert_eq!(date("2024-02-29"), Some(19_782));
        for text in ["2023-02-29", "0000-01-01", "24-01-01", "2024-1-01", "01/02/2024", "today"] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn a_timestamp_has_a_time_or_none() {
        assert_eq!(timestamp("1970-01-02"), Some(86_400_000_000));
        assert_eq!(timestamp("1970-01-01 00:01:01"), Some(61_000_000));
        for text in ["1970-01-01 24:00:00", "1970-01-01 00:01", "1970-01-01 00:01:01+02", "now"] {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn an_interval_with_a_sign_is_left_to_the_engine() {
        let span = constant(&Literal::Text("1 mon 2 days 03:00".to_owned()), &SqlType::Interval);
        assert!(matches!(span, Some(Datum::Span(span)) if (span.months, span.days) == (1, 2)));
        assert_eq!(constant(&Literal::Text("-1 day".to_owned()), &SqlType::Interval), None);
    }
}
