//! Times with colons: `10:11`, `10:11:12.5`.

use crate::DatetimeError;
use crate::digits::{integer, long, micros};

pub(crate) const MICROS_PER_SECOND: i64 = 1_000_000;

/// Hours, minutes, seconds and microseconds.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    pub(crate) micros: i64,
}

impl Clock {
    /// Parses a time. Two fields are minutes and seconds where that is declared, or where the last has a fraction.
    ///
    /// # Errors
    /// The text is no time, or a field other than the hours is out of range.
    pub(crate) fn parse(text: &str, is_minutes: bool) -> Result<Self, DatetimeError> {
        let (hour, rest) = long(text)?;
        let (minute, rest) = integer(rest.strip_prefix(':').ok_or(DatetimeError::Syntax)?)?;
        let shifted = |second, micros| Self { hour: 0, minute: hour, second, micros };
        let clock = match rest.chars().next() {
            None if is_minutes => shifted(minute, 0),
            None => Self { hour, minute, ..Self::default() },
            Some('.') => shifted(minute, micros(rest)?),
            Some(':') => {
                let (second, rest) = integer(&rest[1..])?;
                let micros = match rest.chars().next() {
                    None => 0,
                    Some('.') => micros(rest)?,
                    Some(_) => return Err(DatetimeError::Syntax),
                };
                Self { hour, minute, second, micros }
            }
            Some(_) => return Err(DatetimeError::Syntax),
        };
        let is_clock = clock.hour >= 0
            && (0..60).contains(&clock.minute)
            && (0..=60).contains(&clock.second)
            && (0..=MICROS_PER_SECOND).contains(&clock.micros);
        if is_clock { Ok(clock) } else { Err(DatetimeError::Field) }
    }

    /// The clock of some microseconds since midnight.
    pub(crate) fn of_micros(micros: i64) -> Self {
        let seconds = micros / MICROS_PER_SECOND;
        let (minutes, second) = (seconds / 60, seconds % 60);
        Self {
            hour: minutes / 60,
            minute: minutes % 60,
            second,
            micros: micros % MICROS_PER_SECOND,
        }
    }

    /// Whether it is no time of a day, which ends at 24:00.
    pub(crate) fn is_over(self) -> bool {
        let is_clock = (0..=24).contains(&self.hour)
            && (0..60).contains(&self.minute)
            && (0..=60).contains(&self.second)
            && (0..=MICROS_PER_SECOND).contains(&self.micros);
        !is_clock || self.micros().is_none_or(|micros| micros > 86_400 * MICROS_PER_SECOND)
    }

    /// All of it in microseconds; `None` if that is out of range.
    pub(crate) fn micros(self) -> Option<i64> {
        let minutes = self.hour.checked_mul(60)?.checked_add(self.minute)?;
        let seconds = minutes.checked_mul(60)?.checked_add(self.second)?;
        seconds.checked_mul(MICROS_PER_SECOND)?.checked_add(self.micros)
    }
}
