//! Why a text is no date, time or interval.

use crate::error::{Error, SqlState};
use datetimes::DatetimeError;

/// The error about a text that is no value of a type.
pub fn refused(error: DatetimeError, text: &str, type_name: &str) -> Error {
    let (state, message) = match error {
        DatetimeError::Syntax => {
            let message = format!("invalid input syntax for type {type_name}: \"{text}\"");
            (SqlState::InvalidDatetimeFormat, message)
        }
        DatetimeError::Field if type_name == "interval" => (
            SqlState::IntervalFieldOverflow,
            format!("interval field value out of range: \"{text}\""),
        ),
        DatetimeError::Field => (
            SqlState::DatetimeFieldOverflow,
            format!("date/time field value out of range: \"{text}\""),
        ),
        DatetimeError::Displacement => (
            SqlState::InvalidTimeZoneDisplacement,
            format!("time zone displacement out of range: \"{text}\""),
        ),
        DatetimeError::Zone(zone) => {
            (SqlState::InvalidParameterValue, format!("time zone \"{zone}\" not recognized"))
        }
        DatetimeError::Range => {
            let what = if type_name == "date" { "date" } else { "timestamp" };
            (SqlState::DatetimeFieldOverflow, format!("{what} out of range: \"{text}\""))
        }
        DatetimeError::Interval => {
            (SqlState::DatetimeFieldOverflow, "interval out of range".to_owned())
        }
        DatetimeError::Unheld => {
            let message = format!(
                "the interval \"{text}\", of more than 292 years of time, is not supported"
            );
            (SqlState::FeatureNotSupported, message)
        }
    };
    Error::new(state, message).at_literal(text)
}
