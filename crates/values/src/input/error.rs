//! Why a text is no date, time or interval.

use crate::error::{Error, SqlState};
use datetimes::DatetimeError;
use datetimes::zone::Zone;

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
        DatetimeError::Zone(zone) => return unknown_zone(&zone).at_literal(text),
        DatetimeError::Range => {
            let what = if type_name == "date" { "date" } else { "timestamp" };
            (SqlState::DatetimeFieldOverflow, format!("{what} out of range: \"{text}\""))
        }
        DatetimeError::Interval => {
            (SqlState::DatetimeFieldOverflow, "interval out of range".to_owned())
        }
        DatetimeError::UnheldMoment => {
            let message =
                format!("the timestamp \"{text}\", after the year 294246, is not supported");
            (SqlState::FeatureNotSupported, message)
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

/// The error about a text that is no time zone: 22023, or 0A000 for POSIX notation with summer time.
pub fn unknown_zone(name: &str) -> Error {
    if Zone::has_summer_time(name) {
        let message = format!("the time zone \"{name}\", with summer time, is not supported");
        return Error::unsupported(message).with_hint("Name a zone like America/Chicago.");
    }
    let message = format!("time zone \"{name}\" not recognized");
    Error::new(SqlState::InvalidParameterValue, message)
}
