//! Numbers of a description that have to be sensible: what is not is an error at its line.

use serde::de::{Deserialize, Deserializer, Error};

/// A number above 0.
pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(D::Error::custom(format!("{value} is not greater than 0")))
}

/// A number that is 0 or more.
pub(crate) fn not_negative<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(D::Error::custom(format!("{value} is negative or not finite")))
}

/// The most of anything that is counted: a simulation of more would not end soon.
pub(super) const COUNT_MAX: usize = 256;

/// How many there are of something.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let value = i64::deserialize(deserializer)?;
    let count = usize::try_from(value).ok().filter(|count| (1..=COUNT_MAX).contains(count));
    count.ok_or_else(|| {
        D::Error::custom(format!("{value} is not a whole number from 1 to {COUNT_MAX}"))
    })
}
