//! `pg_size_pretty` and `pg_size_bytes`: numbers of bytes with units.

use columnar::{Types, checked};
use datafusion::arrow::array::{Array, AsArray, Int64Array, StringViewArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::logical_expr::ScalarUDF;
use numerics::Numeric;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::numbers::{Numbers, is_open};

/// The units, each 1,024 times as large as the one before it. The first is a byte.
static UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/// The number of bytes from which on there are kilobytes.
const BYTES_MAX: i64 = 10 * 1024;

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let pretty: Types = |types| match types {
        [of] if is_open(of) || matches!(of, DataType::Decimal128(..)) => {
            Ok((vec![of.clone()], DataType::Utf8View))
        }
        _ => Ok((vec![DataType::Int64], DataType::Utf8View)),
    };
    vec![
        checked("pg_size_pretty", pretty, |args| match args[0].data_type() {
            DataType::Int64 => {
                let bytes = args[0].as_primitive::<Int64Type>().iter();
                let texts = bytes.map(|bytes| bytes.map(of_integer));
                Ok(Arc::new(texts.collect::<StringViewArray>()))
            }
            _ => {
                let numbers = Numbers::new(&args[0])?;
                let text = |row| match args[0].is_null(row) {
                    true => Ok(None),
                    false => of_numeric(numbers.number(row)?).map(Some),
                };
                let texts = (0..args[0].len()).map(text);
                Ok(Arc::new(texts.collect::<Result<StringViewArray>>()?))
            }
        }),
        checked(
            "pg_size_bytes",
            |_| Ok((vec![DataType::Utf8View], DataType::Int64)),
            |args| {
                let texts = args[0].as_string_view().iter();
                let bytes = texts.map(|text| text.map(bytes_of).transpose());
                Ok(Arc::new(bytes.collect::<Result<Int64Array>>()?))
            },
        ),
    ]
}

/// Bytes in the largest unit of which there are at least ten.
fn of_integer(bytes: i64) -> String {
    if bytes.unsigned_abs() < BYTES_MAX.unsigned_abs() {
        return format!("{bytes} bytes");
    }
    // Half units, for rounding.
    let mut halves = bytes / 512;
    let mut units = UNITS[1..].iter();
    let mut unit = units.next();
    while let Some(next) = units.next().filter(|_| halves.abs() >= 2 * BYTES_MAX - 1) {
        halves /= 1024;
        unit = Some(next);
    }
    let rounded = if halves < 0 { (halves - 1) / 2 } else { (halves + 1) / 2 };
    format!("{rounded} {}", unit.unwrap_or(&UNITS[0]))
}

/// As [`of_integer`], of a number of any size.
fn of_numeric(bytes: Numeric) -> Result<String> {
    let whole = |number: i64| Numeric::from_i128(number.into(), 0);
    if bytes.abs() < whole(BYTES_MAX) {
        return Ok(format!("{bytes} bytes"));
    }
    let mut halves = bytes.div_trunc(&whole(512))?;
    let mut units = UNITS[1..].iter();
    let mut unit = units.next();
    while let Some(next) = units.next().filter(|_| halves.abs() >= whole(2 * BYTES_MAX - 1)) {
        halves = halves.div_trunc(&whole(1024))?;
        unit = Some(next);
    }
    let one = whole(if halves.is_negative() { -1 } else { 1 });
    let rounded = halves.add(&one)?.div_trunc(&whole(2))?;
    Ok(format!("{rounded} {}", unit.unwrap_or(&UNITS[0])))
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t'..='\r')
}

/// The number at the beginning of a text, and what follows it. `None` if there is no digit.
fn number_and_unit(text: &str) -> Option<(&str, &str)> {
    let behind_digits = |text: &str, at: usize| {
        let rest = &text[at..];
        at + rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len())
    };
    let begin = usize::from(text.starts_with(['-', '+']));
    let mut end = behind_digits(text, begin);
    let mut has_digits = end > begin;
    if text[end..].starts_with('.') {
        let fraction = end + 1;
        end = behind_digits(text, fraction);
        has_digits |= end > fraction;
    }
    if text[end..].starts_with(['e', 'E']) {
        let exponent = end + 1 + usize::from(text[end + 1..].starts_with(['-', '+']));
        let last = behind_digits(text, exponent);
        // Otherwise it is a letter of the unit.
        end = if last > exponent { last } else { end };
    }
    has_digits.then(|| text.split_at(end))
}

fn bytes_of(text: &str) -> Result<i64> {
    let invalid = || {
        let message = format!("invalid size: \"{text}\"");
        Error::new(SqlState::InvalidParameterValue, message)
    };
    let size = text.trim_start_matches(is_blank);
    let (number, unit) = number_and_unit(size).ok_or_else(invalid)?;
    let number = Numeric::parse(number)?;
    let unit = unit.trim_matches(is_blank);
    let power = match unit {
        "" => Some(0),
        unit => UNITS.iter().position(|known| known.eq_ignore_ascii_case(unit)),
    };
    let Some(power) = power else {
        let hint = "Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".";
        let detail = format!("Invalid size unit: \"{unit}\".");
        return Err(invalid().with_detail(detail).with_hint(hint));
    };
    let size = Numeric::from_i128(1 << (10 * power), 0);
    Ok(number.mul(&size)?.to_i64()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_postgresql_does() {
        let all = [
            (0, "0 bytes"),
            (10_239, "10239 bytes"),
            (10_240, "10 kB"),
            (1_000_000, "977 kB"),
            (10_485_760, "10 MB"),
            (123_456_789_012, "115 GB"),
            (-20_000, "-20 kB"),
            (11_258_449_312_612_352, "10 PB"),
            (i64::MIN, "-8192 PB"),
        ];
        for (bytes, written) in all {
            assert_eq!(of_integer(bytes), written);
            let number = Numeric::from_i128(bytes.into(), 0);
            assert_eq!(of_numeric(number).expect("a text"), written);
        }
        let written =
            |number| of_numeric(Numeric::parse(number).expect("a number")).expect("a text");
        assert_eq!(written("10239.9"), "10239.9 bytes");
        assert_eq!(written("-10240.5"), "-10 kB");
        assert_eq!(written("1e30"), "888178419700125 PB");
    }

    #[test]
    fn sizes_are_read_as_postgresql_does() {
        let all = [
            ("1", 1),
            ("123bytes", 123),
            (" 1.5 GB ", 1_610_612_736),
            ("1e6 MB", 1_048_576_000_000),
            ("-1tb", -1_099_511_627_776),
            (".5kb", 512),
            ("1.e2", 100),
            ("-0.5", -1),
            ("2.5", 3),
            ("1e-20 kB", 0),
        ];
        for (text, bytes) in all {
            assert_eq!(bytes_of(text).expect("a size"), bytes, "{text}");
        }
        for text in ["", "kb", "-.kb", ".+912", "++123 kB", "10 b", "1 AB A", "+912+ kB", "1ekb"] {
            let error = bytes_of(text).expect_err("no size");
            assert_eq!(error.message(), format!("invalid size: \"{text}\""));
        }
        assert_eq!(bytes_of("1e100").expect_err("too large").message(), "bigint out of range");
    }
}
