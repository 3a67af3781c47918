//! The parts of an interval while it is read, and how fractions of units go to smaller ones.

use crate::DatetimeError;
use crate::words::Unit;

const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_MINUTE: i64 = 60 * MICROS_PER_SECOND;
const MICROS_PER_HOUR: i64 = 60 * MICROS_PER_MINUTE;
const MICROS_PER_DAY: i64 = 24 * MICROS_PER_HOUR;
const DAYS_PER_MONTH: i64 = 30;
const MONTHS_PER_YEAR: i64 = 12;

/// The sums of an interval while it is read.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Parts {
    years: i32,
    months: i32,
    pub(crate) days: i32,
    pub(crate) micros: i64,
}

impl Parts {
    /// Adds a number of units, whose fraction goes to smaller ones.
    pub(crate) fn add(&mut self, whole: i64, part: f64, unit: Unit) -> Result<(), DatetimeError> {
        let added = match unit {
            Unit::Microsecond => self.add_micros(whole, part, 1),
            Unit::Millisecond => self.add_micros(whole, part, 1000),
            Unit::Second => self.add_micros(whole, part, MICROS_PER_SECOND),
            Unit::Minute => self.add_micros(whole, part, MICROS_PER_MINUTE),
            Unit::Hour => self.add_micros(whole, part, MICROS_PER_HOUR),
            Unit::Day => self.add_days(whole).and_then(|()| self.add_part(part, MICROS_PER_DAY)),
            Unit::Week => {
                let days = i32::try_from(whole).ok().and_then(|weeks| weeks.checked_mul(7));
                days.and_then(|days| self.add_days(days.into()))
                    .and_then(|()| self.add_part_of_days(part, 7))
            }
            Unit::Month => {
                let months = i32::try_from(whole).ok();
                let sum = months.and_then(|months| self.months.checked_add(months));
                sum.and_then(|sum| {
                    self.months = sum;
                    self.add_part_of_days(part, DAYS_PER_MONTH)
                })
            }
            Unit::Year => self.add_years(whole, part, 1),
            Unit::Decade => self.add_years(whole, part, 10),
            Unit::Century => self.add_years(whole, part, 100),
            Unit::Millennium => self.add_years(whole, part, 1000),
            Unit::Other => return Err(DatetimeError::Syntax),
        };
        added.ok_or(DatetimeError::Field)
    }

    fn add_micros(&mut self, whole: i64, part: f64, size: i64) -> Option<()> {
        self.micros = self.micros.checked_add(whole.checked_mul(size)?)?;
        self.add_part(part, size)
    }

    /// Adds a part of a unit of so many microseconds.
    pub(crate) fn add_part(&mut self, part: f64, size: i64) -> Option<()> {
        let scaled = part * size as f64;
        let whole = scaled.trunc();
        let rest = scaled - whole;
        let up = if rest > 0.5 {
            1
        } else if rest < -0.5 {
            -1
        } else {
            0
        };
        self.micros = self.micros.checked_add(whole as i64 + up)?;
        Some(())
    }

    fn add_days(&mut self, days: i64) -> Option<()> {
        self.days = self.days.checked_add(i32::try_from(days).ok()?)?;
        Some(())
    }

    /// Adds a part of a unit of so many days.
    fn add_part_of_days(&mut self, part: f64, size: i64) -> Option<()> {
        let days = part * size as f64;
        self.add_days(days.trunc() as i64)?;
        self.add_part(days - days.trunc(), MICROS_PER_DAY)
    }

    fn add_years(&mut self, whole: i64, part: f64, size: i32) -> Option<()> {
        let years = i32::try_from(whole).ok()?.checked_mul(size)?;
        self.years = self.years.checked_add(years)?;
        let months = (part * f64::from(size) * MONTHS_PER_YEAR as f64).round_ties_even();
        self.months = self.months.checked_add(months as i32)?;
        Some(())
    }

    /// All months; `None` if they are out of range.
    pub(crate) fn months(self) -> Option<i32> {
        let months = i64::from(self.years) * MONTHS_PER_YEAR + i64::from(self.months);
        i32::try_from(months).ok()
    }

    /// The parts with the other sign; `None` if they are out of range.
    pub(crate) fn negated(self) -> Option<Self> {
        Some(Self {
            years: self.years.checked_neg()?,
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        })
    }
}
