//! Operators and fields of dates and timestamps. What is infinite or out of range is left to the engine.

use super::datum::Datum;
use ::functions::datetime::moments::{date_after, days_from, moment_after, time_from};
use values::fields::{Field, of_moment};
use values::moments::{is_infinite, is_infinite_date, midnight};

const MICROS_PER_DAY: i64 = 86_400_000_000;
/// The parts of a second in which fields are counted.
const MILLIONTHS: i128 = 1_000_000;

/// An operator of a date or a timestamp.
#[derive(Debug, Clone, Copy)]
pub(super) enum Calendar {
    /// A date some days later.
    DaysLater,
    /// A date some days earlier.
    DaysEarlier,
    /// The days between two dates.
    Days,
    /// The midnight of a date some interval later, or earlier.
    OfDate { is_later: bool },
    /// A timestamp some interval later, or earlier.
    OfMoment { is_later: bool },
    /// The time between two timestamps.
    Time,
}

impl Calendar {
    /// The operator of a function of the system.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "date_pli" => Self::DaysLater,
            "date_mii" => Self::DaysEarlier,
            "date_mi" => Self::Days,
            "date_pl_interval" => Self::OfDate { is_later: true },
            "date_mi_interval" => Self::OfDate { is_later: false },
            "timestamp_pl_interval" => Self::OfMoment { is_later: true },
            "timestamp_mi_interval" => Self::OfMoment { is_later: false },
            "timestamp_mi" => Self::Time,
            _ => return None,
        })
    }

    /// Whether it is one of days, which are integers.
    pub(super) fn is_of_days(self) -> bool {
        matches!(self, Self::DaysLater | Self::DaysEarlier | Self::Days)
    }

    /// The result. `None` for values that are not simple, of which the engine knows the result or the error.
    pub(super) fn apply(self, left: &Datum<'_>, right: &Datum<'_>) -> Option<Datum<'static>> {
        let Datum::Integer(left) = *left else { return None };
        match (self, right) {
            (Self::DaysLater, Datum::Integer(days)) => later(left, *days),
            (Self::DaysEarlier, Datum::Integer(days)) => later(left, -*days),
            (Self::Days, Datum::Integer(right)) => {
                let (start, end) = (i32::try_from(*right).ok()?, i32::try_from(left).ok()?);
                Some(Datum::Integer(days_from(start, end).ok()?.into()))
            }
            (Self::OfDate { is_later }, Datum::Span(span)) => {
                let midnight = midnight(i32::try_from(left).ok()?)?;
                moment_after(midnight, *span, is_later).map(Datum::Integer)
            }
            (Self::OfMoment { is_later }, Datum::Span(span)) => {
                moment_after(left, *span, is_later).map(Datum::Integer)
            }
            (Self::Time, Datum::Integer(right)) => time_from(*right, left).ok().map(Datum::Span),
            _ => None,
        }
    }
}

fn later(date: i64, days: i64) -> Option<Datum<'static>> {
    let date = date_after(i32::try_from(date).ok()?, days).ok()?;
    Some(Datum::Integer(date.into()))
}

/// A field of a date or a timestamp.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    field: Field,
    is_date: bool,
    /// Whether the value is a double precision number, not a decimal one.
    is_double: bool,
}

impl Part {
    /// The field of a name, if it is a whole number. `None` for others.
    pub(super) fn of(name: &str, is_date: bool, is_double: bool) -> Option<Self> {
        use Field as F;
        let field = F::named(name)?;
        let is_whole = match field {
            F::Year | F::Month | F::Day | F::Quarter | F::Decade | F::Century | F::Millennium => {
                true
            }
            F::DayOfWeek | F::IsoDayOfWeek | F::DayOfYear | F::Week | F::IsoYear => true,
            F::Hour | F::Minute => !is_date,
            _ => false,
        };
        is_whole.then_some(Self { field, is_date, is_double })
    }

    /// The field of a value. `None` of an infinite one.
    pub(super) fn of_value(self, value: i64) -> Option<Datum<'static>> {
        let (days, time) = match self.is_date {
            true if is_infinite_date(i32::try_from(value).ok()?) => return None,
            true => (value, 0),
            false if is_infinite(value) => return None,
            false => (value.div_euclid(MICROS_PER_DAY), value.rem_euclid(MICROS_PER_DAY)),
        };
        let whole = of_moment(self.field, days, time) / MILLIONTHS;
        Some(match self.is_double {
            true => Datum::Double(whole as f64),
            false => Datum::Number(whole, 0),
        })
    }
}
