//! The declared fields of an interval type: `INTERVAL DAY TO MINUTE`.

use crate::words::Unit;

/// The fields of an interval type, as bits in its modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields(i32);

impl Fields {
    /// The bit of months.
    pub const MONTH: i32 = 1 << 1;
    /// The bit of years.
    pub const YEAR: i32 = 1 << 2;
    /// The bit of days.
    pub const DAY: i32 = 1 << 3;
    /// The bit of hours.
    pub const HOUR: i32 = 1 << 10;
    /// The bit of minutes.
    pub const MINUTE: i32 = 1 << 11;
    /// The bit of seconds.
    pub const SECOND: i32 = 1 << 12;
    /// All bits: the type has no declared fields.
    pub const ALL: i32 = 0x7fff;

    /// The fields of a type's modifier, or all for less than 0.
    pub const fn of_modifier(modifier: i32) -> Self {
        Self(if modifier < 0 { Self::ALL } else { (modifier >> 16) & Self::ALL })
    }

    pub(crate) fn are_minutes_and_seconds(self) -> bool {
        self.0 == Self::MINUTE | Self::SECOND
    }

    /// The bit of the smallest declared field. None: all fields are kept.
    pub fn smallest(self) -> Option<i32> {
        const FROM_SMALLEST: [i32; 6] = [
            Fields::SECOND,
            Fields::MINUTE,
            Fields::HOUR,
            Fields::DAY,
            Fields::MONTH,
            Fields::YEAR,
        ];
        if self.0 == Self::ALL {
            return None;
        }
        FROM_SMALLEST.into_iter().find(|bit| self.0 & bit != 0)
    }

    /// The unit of a number at the end.
    pub(crate) fn last_unit(self) -> Unit {
        match self.smallest() {
            Some(Self::MINUTE) => Unit::Minute,
            Some(Self::HOUR) => Unit::Hour,
            Some(Self::DAY) => Unit::Day,
            Some(Self::MONTH) => Unit::Month,
            Some(Self::YEAR) => Unit::Year,
            _ => Unit::Second,
        }
    }
}
