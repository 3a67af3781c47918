//! What all tokens have given, checked and completed.

use super::decode::{Fields, Moment, field};
use crate::DatetimeError;
use crate::calendar::{civil, days_of};
use crate::zone::Zone;

impl Fields {
    /// Checks and completes what all tokens have given.
    pub(super) fn finish(&mut self) -> Result<(), DatetimeError> {
        let is_now = matches!(self.moment, Some(Moment::Now(_)));
        if !is_now {
            self.check_date()?;
        }
        match (self.is_afternoon, self.clock.hour) {
            (Some(_), 13..) => return Err(DatetimeError::Field),
            (Some(false), 12) => self.clock.hour = 0,
            (Some(true), hour) if hour != 12 => self.clock.hour = hour + 12,
            _ => {}
        }
        if self.is_time && self.clock.is_over() {
            return Err(DatetimeError::Field);
        }
        let needed = if self.is_time { field::TIME } else { field::DATE };
        // A label in front of the seconds gives no fraction.
        let known = self.seen | if self.has(field::SECOND) { field::FRACTION } else { 0 };
        if known & needed != needed {
            return Err(DatetimeError::Syntax);
        }
        if self.has(field::DAYLIGHT) && !matches!(self.zone, Some(Zone::Offset(_))) {
            return Err(DatetimeError::Syntax);
        }
        // The offset of a zone with rules depends on the day.
        let has_rules = matches!(self.zone, Some(Zone::Named(_) | Zone::Abbreviated(..)));
        if self.is_time && has_rules && !self.has(field::DATE) {
            return Err(DatetimeError::Syntax);
        }
        Ok(())
    }

    fn check_date(&mut self) -> Result<(), DatetimeError> {
        if self.has(field::YEAR) && !self.is_julian {
            let is_short = self.is_short_year && !self.is_before_christ;
            self.year = match self.year {
                year @ 0..70 if is_short => 2000 + year,
                year @ 70..100 if is_short => 1900 + year,
                year if year < 1 => return Err(DatetimeError::Field),
                year if self.is_before_christ => 1 - year,
                year => year,
            };
        }
        if self.has(field::DAY_OF_YEAR) {
            let first = days_of(self.year, 1, 1).ok_or(DatetimeError::Field)?;
            (self.year, self.month, self.day) = civil(first + self.day_of_year - 1);
        }
        if self.has(field::MONTH) && !(1..=12).contains(&self.month)
            || self.has(field::DAY) && !(1..=31).contains(&self.day)
            || self.has(field::DATE) && days_of(self.year, self.month, self.day).is_none()
        {
            return Err(DatetimeError::Field);
        }
        Ok(())
    }

    pub(super) fn days(&self) -> Result<i64, DatetimeError> {
        days_of(self.year, self.month, self.day).ok_or(DatetimeError::Field)
    }

    /// Microseconds since midnight.
    pub(super) fn time(&self) -> i64 {
        // The fields are of 32 bits.
        self.clock.micros().unwrap_or_default()
    }

    pub(super) fn zone_or_session(&self) -> Zone {
        self.zone.unwrap_or(self.reading.zone)
    }
}
