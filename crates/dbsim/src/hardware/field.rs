//! Validation of numbers in descriptions.

use serde::de::{Deserialize, Deserializer, Error};

/// A finite number greater than 0.
pub(crate) fn positive<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(D::Error::custom(format!("{value} is not greater than 0")))
}

/// A finite number of at least 0.
pub(crate) fn not_negative<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(D::Error::custom(format!("{value} is negative or not finite")))
}

/// Maximum of any count, which bounds the simulation time.
pub(super) const COUNT_MAX: usize = 256;

/// A count from 1 to [`COUNT_MAX`].
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let value = i64::deserialize(deserializer)?;
    let count = usize::try_from(value).ok().filter(|count| (1..=COUNT_MAX).contains(count));
    count.ok_or_else(|| {
        D::Error::custom(format!("{value} is not a whole number from 1 to {COUNT_MAX}"))
    })
}
