//! Failed casts of text, with the messages of PostgreSQL's input functions.

use super::type_names;
use crate::error::{Error, SqlState};

/// Translates `Cannot cast string 'abc' to value of Int32 type`.
pub(super) fn of_text(message: &str) -> Option<Error> {
    if let Some((_, value)) = message.split_once("nvalid input syntax for type interval: \"") {
        return Some(refused(value.strip_suffix('"').unwrap_or(value), "interval"));
    }
    let forms = ["Cannot cast string '", "Cannot cast value '"];
    let (_, rest) = forms.iter().find_map(|form| message.split_once(form))?;
    let (value, rest) = rest.rsplit_once("' to value of ")?;
    Some(refused(value, &type_names::of(rest.strip_suffix(" type")?)))
}

/// Whether the digits at the beginning of a text are too many for an integer type, whatever follows them.
fn begins_out_of_range(value: &str, type_name: &str) -> bool {
    let most = match type_name {
        "smallint" => i16::MAX.into(),
        "integer" => i32::MAX.into(),
        "bigint" => i64::MAX,
        _ => return false,
    };
    let text = value.trim_start();
    let (digits, most) = match text.strip_prefix('-') {
        Some(digits) => (digits, i128::from(most) + 1),
        None => (text.strip_prefix('+').unwrap_or(text), i128::from(most)),
    };
    let digits = digits.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
    !digits.is_empty() && digits.parse::<i128>().is_ok_and(|number| number > most)
        || digits.len() > 38
}

/// The error for a text that is no value of a type: invalid syntax or out of range. `type_name` is PostgreSQL's name.
pub fn refused(value: &str, type_name: &str) -> Error {
    let short = type_name.strip_suffix(" without time zone").unwrap_or(type_name);
    let syntax =
        |state| Error::new(state, format!("invalid input syntax for type {short}: \"{value}\""));
    let range = |what: String| Error::new(SqlState::NumericValueOutOfRange, what);
    let error = match short {
        "smallint" | "integer" | "bigint" | "oid"
            if is_whole_number(value) || begins_out_of_range(value, short) =>
        {
            range(format!("value \"{value}\" is out of range for type {short}"))
        }
        "real" | "double precision" if value.trim().parse::<f64>().is_ok() => {
            range(format!("\"{value}\" is out of range for type {short}"))
        }
        "numeric" if value.trim().parse::<f64>().is_ok() => {
            range("value overflows numeric format".to_owned())
        }
        "date" | "time" | "timestamp" | "timestamp with time zone" | "time with time zone" => {
            if is_datetime_syntax(value) {
                let message = format!("date/time field value out of range: \"{value}\"");
                Error::new(SqlState::DatetimeFieldOverflow, message)
            } else {
                syntax(SqlState::InvalidDatetimeFormat)
            }
        }
        "interval" => syntax(SqlState::InvalidDatetimeFormat),
        _ => syntax(SqlState::InvalidTextRepresentation),
    };
    error.at_literal(value)
}

fn is_whole_number(text: &str) -> bool {
    let digits = text.trim().trim_start_matches(['-', '+']);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text has the syntax of a date or a time, even if a field is out of range: `2024-13-40`,
/// `25:00`.
fn is_datetime_syntax(text: &str) -> bool {
    let text = text.trim();
    let (first, rest) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let numbers = |text: &str, separator: char, counts: std::ops::RangeInclusive<usize>| {
        let mut fields = text.split(separator);
        counts.contains(&text.split(separator).count())
            && fields.all(|field| {
                let field = field.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit());
                field.is_empty()
            })
            && !text.split(separator).any(str::is_empty)
    };
    let is_time = |text: &str| {
        let at = text.find(['+', '-', 'Z', 'z']).unwrap_or(text.len());
        numbers(text[..at].trim(), ':', 2..=3)
    };
    if numbers(first, '-', 3..=3) { rest.is_empty() || is_time(rest) } else { is_time(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_syntax_and_values_out_of_range_have_different_errors() {
        for (value, type_name, code, message) in [
            ("abc", "integer", "22P02", "invalid input syntax for type integer: \"abc\""),
            ("99999.5", "smallint", "22003", "value \"99999.5\" is out of range for type smallint"),
            ("9.5", "smallint", "22P02", "invalid input syntax for type smallint: \"9.5\""),
            ("99999", "smallint", "22003", "value \"99999\" is out of range for type smallint"),
            (
                "1e999",
                "double precision",
                "22003",
                "\"1e999\" is out of range for type double precision",
            ),
            ("nope", "date", "22007", "invalid input syntax for type date: \"nope\""),
            ("2024-02-30", "date", "22008", "date/time field value out of range: \"2024-02-30\""),
            (
                "25:00:00",
                "time without time zone",
                "22008",
                "date/time field value out of range: \"25:00:00\"",
            ),
            (
                "2024-1-1 x",
                "timestamp",
                "22007",
                "invalid input syntax for type timestamp: \"2024-1-1 x\"",
            ),
        ] {
            let error = refused(value, type_name);
            assert_eq!((error.state().code(), error.message()), (code, message));
        }
    }
}
