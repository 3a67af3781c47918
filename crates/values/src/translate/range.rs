//! Numbers and timestamps out of range.

use crate::error::{Error, SqlState};

/// Translates `Overflow happened on: 2147483647 + 1`. The type that overflowed is the smallest one
/// that holds both numbers.
pub(super) fn of_overflow(message: &str) -> Error {
    let numbers = || message.split(' ').filter_map(|word| word.trim().parse::<i128>().ok());
    let type_name = match numbers().map(i128::abs).max() {
        Some(most) if most <= i128::from(i32::MAX) + 1 => "integer",
        Some(most) if most <= i128::from(i64::MAX) + 1 => "bigint",
        Some(_) => return numeric_overflow(None),
        None => "value",
    };
    Error::new(SqlState::NumericValueOutOfRange, format!("{type_name} out of range"))
}

/// Translates a message about a range.
pub(super) fn of_text(message: &str) -> Option<Error> {
    for (what, bound) in [("too large", "Max is "), ("too small", "Min is -")] {
        if !message.contains(&format!("is {what} to store in a Decimal")) {
            continue;
        }
        let (_, most) = message.split_once(bound).unwrap_or(("", ""));
        return Some(numeric_overflow(most.split_once('.').or(Some((most, "")))));
    }
    if let Some((_, rest)) = message.split_once("Error parsing timestamp from '") {
        let (value, why) = rest.split_once('\'')?;
        if why.contains("using format") {
            let message = format!("invalid value \"{value}\" for the given format");
            return Some(Error::new(SqlState::InvalidDatetimeFormat, message));
        }
        return Some(super::casts::refused(value, "timestamp"));
    }
    message.contains("verflow happened on").then(|| of_overflow(message))
}

/// `most` is the type's maximum, split at the decimal point.
fn numeric_overflow(most: Option<(&str, &str)>) -> Error {
    let error = Error::new(SqlState::NumericValueOutOfRange, "numeric field overflow");
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    match most.map(|(whole, fraction)| (whole.trim_start_matches('0'), fraction)) {
        Some((whole, fraction)) if !(whole.is_empty() && fraction.is_empty()) => {
            let (whole, fraction) = (digits(whole), digits(fraction));
            error.with_detail(format!(
                "A field with precision {}, scale {fraction} must round to an absolute value less than 10^{whole}.",
                whole + fraction
            ))
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_type_that_overflowed() {
        assert_eq!(
            of_overflow("Overflow happened on: 2147483647 + 1").message(),
            "integer out of range"
        );
        assert_eq!(
            of_overflow("Overflow happened on: 9223372036854775807 * 2").message(),
            "bigint out of range"
        );
        let of = "-100000000 is too small to store in a Decimal128 of precision 5. Min is -99999";
        let error = of_text(of);
        let detail = error.as_ref().and_then(Error::detail).unwrap_or_default();
        assert!(detail.starts_with("A field with precision 5, scale 0 must"), "{detail}");
        let error =
            of_text("12345.68 is too large to store in a Decimal128 of precision 5. Max is 999.99");
        let detail = error.as_ref().and_then(Error::detail);
        assert_eq!(
            detail,
            Some(
                "A field with precision 5, scale 2 must round to an absolute value less than 10^3."
            )
        );
    }
}
