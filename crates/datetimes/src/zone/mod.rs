//! Time zones: offsets from UTC, and names of the time zone database.
//!
//! A local time that a zone skips is told by the offset before the gap; one that it has twice is the second. Beyond the
//! years of the database a zone follows its last rules.
//!
//! An abbreviation such as MSK has had several offsets. It has the one with which its zone used it last.

mod letters;
pub mod listed;
mod name;

pub use letters::Letters;

use crate::calendar::{civil, days_of};
use crate::moments;
use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// The years up to which the database has all changes of rules, and years of all calendars at their end.
const LAST_YEAR: i64 = 2099;
const LAST_CALENDARS: std::ops::RangeInclusive<i64> = 2072..=LAST_YEAR;

/// A time before which no zone has rules: 1800-01-01.
const FIRST_SECOND: i64 = -5_364_662_400;
/// A time after which no zone has new rules: 2100-01-01.
const LAST_SECOND: i64 = 4_102_444_800;

/// A time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "Written")]
pub enum Zone {
    /// Seconds east of Greenwich.
    Offset(i32),
    /// A zone of the database.
    Named(Tz),
    /// The times of a zone of the database that have this abbreviation.
    Abbreviated(Tz, &'static str),
    /// Seconds east of Greenwich, and the letters that POSIX notation has for them.
    Lettered(i32, Letters),
}

/// A time zone as other servers read it.
#[derive(Serialize, Deserialize)]
enum Written {
    Offset(i32),
    Named(String),
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Written::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl From<Zone> for Written {
    fn from(zone: Zone) -> Self {
        match zone {
            Zone::Offset(seconds) => Self::Offset(seconds),
            Zone::Named(zone) => Self::Named(zone.name().to_owned()),
            Zone::Abbreviated(_, name) => Self::Named(name.to_owned()),
            Zone::Lettered(..) => Self::Named(zone.to_string()),
        }
    }
}

impl TryFrom<Written> for Zone {
    type Error = chrono_tz::ParseError;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Offset(seconds) => Ok(Self::Offset(seconds)),
            Written::Named(name) => {
                let zone = name.parse().map(Self::Named);
                let lettered = || Self::of_setting(&name).map(|(zone, _)| zone);
                zone.or_else(|error| Self::abbreviated(&name).or_else(lettered).ok_or(error))
            }
        }
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

impl Zone {
    /// UTC.
    pub const UTC: Self = Self::Offset(0);

    /// Whether its times are those of UTC.
    pub fn is_utc(self) -> bool {
        self == Self::UTC
    }

    /// The offset from UTC at a moment, in seconds. The moment is in microseconds since 1970.
    pub fn offset_at(self, micros: i64) -> i64 {
        match self {
            Self::Offset(seconds) | Self::Lettered(seconds, _) => seconds.into(),
            Self::Named(tz) => {
                let utc = within_rules(micros.div_euclid(MICROS_PER_SECOND));
                tz.offset_from_utc_datetime(&utc).fix().local_minus_utc().into()
            }
            Self::Abbreviated(tz, name) => {
                let seconds = micros.div_euclid(MICROS_PER_SECOND);
                last_use(tz, name, seconds).unwrap_or_else(|| Self::Named(tz).offset_at(micros))
            }
        }
    }

    /// The local time at a moment, in microseconds. `None` beyond the range of timestamps.
    pub fn local(self, micros: i64) -> Option<i64> {
        if moments::is_infinite(micros) {
            return Some(micros);
        }
        let local = micros.checked_add(self.offset_at(micros) * MICROS_PER_SECOND)?;
        moments::timestamp(local)
    }

    /// The moment of a local time, in microseconds. `None` beyond the range of timestamps.
    pub fn instant(self, local: i64) -> Option<i64> {
        if moments::is_infinite(local) {
            return Some(local);
        }
        let micros = local.checked_sub(self.offset_of_local(local) * MICROS_PER_SECOND)?;
        moments::timestamp(micros)
    }

    fn offset_of_local(self, local: i64) -> i64 {
        let tz = match self {
            Self::Offset(_) | Self::Lettered(..) => return self.offset_at(local),
            Self::Named(tz) => tz,
            Self::Abbreviated(tz, _) => {
                let offset = Self::Named(tz).offset_of_local(local);
                return self.offset_at(local.saturating_sub(offset * MICROS_PER_SECOND));
            }
        };
        let seconds = local.div_euclid(MICROS_PER_SECOND);
        let offset = match tz.offset_from_local_datetime(&within_rules(seconds)) {
            MappedLocalTime::Single(offset) => offset,
            MappedLocalTime::Ambiguous(_, second) => second,
            MappedLocalTime::None => {
                let before = within_rules(seconds.saturating_sub(SECONDS_PER_DAY));
                tz.offset_from_utc_datetime(&before)
            }
        };
        offset.fix().local_minus_utc().into()
    }

    /// The abbreviation of the zone's time at a moment: `CEST`; an offset like `+03` where there is none.
    pub fn abbreviation_at(self, micros: i64) -> String {
        match self {
            Self::UTC => "UTC".to_owned(),
            Self::Offset(_) => {
                let mut text = String::new();
                write_offset(self.offset_at(micros), &mut text);
                text
            }
            Self::Named(tz) => {
                let utc = within_rules(micros.div_euclid(MICROS_PER_SECOND));
                let offset = tz.offset_from_utc_datetime(&utc);
                let name = chrono_tz::OffsetName::abbreviation(&offset);
                name.map_or_else(|| unnamed(offset.fix().local_minus_utc()), str::to_owned)
            }
            Self::Abbreviated(_, name) => name.to_owned(),
            Self::Lettered(_, letters) => letters.as_str().to_owned(),
        }
    }
}

/// The offset that a zone had when it last used an abbreviation, at or before a number of seconds since 1970; if it had not
/// yet, when it first did.
fn last_use(tz: Tz, name: &str, seconds: i64) -> Option<i64> {
    let used = |seconds: i64| {
        let offset = tz.offset_from_utc_datetime(&within_rules(seconds));
        let is_used = chrono_tz::OffsetName::abbreviation(&offset) == Some(name);
        is_used.then(|| i64::from(offset.fix().local_minus_utc()))
    };
    let days = |step: i64| {
        let first = seconds.clamp(FIRST_SECOND, LAST_SECOND);
        let next = move |second: &i64| Some(second + step * SECONDS_PER_DAY);
        let all = std::iter::successors(Some(first), next);
        all.take_while(|second| (FIRST_SECOND..=LAST_SECOND).contains(second))
    };
    used(seconds).or_else(|| days(-1).find_map(used)).or_else(|| days(1).find_map(used))
}

/// Appends an offset as timestamps have it: `+02`, `-03:30`, `+00:19:32`.
pub fn write_offset(seconds: i64, out: &mut String) {
    let size = seconds.abs();
    out.push(if seconds < 0 { '-' } else { '+' });
    let mut two = |number: i64| {
        out.push_str(if number < 10 { "0" } else { "" });
        out.push_str(itoa::Buffer::new().format(number));
    };
    two(size / 3600);
    let (minutes, rest) = (size / 60 % 60, size % 60);
    for part in [minutes, rest].into_iter().take(if rest != 0 { 2 } else { 1 }) {
        if minutes != 0 || rest != 0 {
            out.push(':');
            out.push_str(if part < 10 { "0" } else { "" });
            out.push_str(itoa::Buffer::new().format(part));
        }
    }
}

/// A time at which a zone has the offset that it has at a number of seconds since 1970, within the years of the database:
/// later years have the rules of a year with the same calendar.
fn within_rules(seconds: i64) -> NaiveDateTime {
    let seconds = seconds.max(FIRST_SECOND);
    let (year, month, day) = civil(seconds.div_euclid(SECONDS_PER_DAY));
    let seconds = if year <= LAST_YEAR {
        seconds
    } else {
        let same = LAST_CALENDARS.into_iter().find(|other| is_same_calendar(year, *other));
        let days = days_of(same.unwrap_or(LAST_YEAR), month, day).unwrap_or_default();
        days * SECONDS_PER_DAY + seconds.rem_euclid(SECONDS_PER_DAY)
    };
    DateTime::from_timestamp(seconds, 0).unwrap_or_default().naive_utc()
}

/// Whether two years have the same days of the week.
fn is_same_calendar(year: i64, other: i64) -> bool {
    let weekday = |year, month| days_of(year, month, 1).map(|day| day.rem_euclid(7));
    weekday(year, 1) == weekday(other, 1) && weekday(year, 12) == weekday(other, 12)
}

/// The abbreviation of a time that has only an offset, as the database writes it: `+04`, `+0330`.
fn unnamed(seconds: i32) -> String {
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    match (minutes / 60, minutes % 60) {
        (hours, 0) => format!("{sign}{hours:02}"),
        (hours, rest) => format!("{sign}{hours:02}{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(year: i64, month: i64, day: i64, hour: i64) -> i64 {
        let days = days_of(year, month, day).expect("a day");
        (days * 24 + hour) * 3600 * MICROS_PER_SECOND
    }

    fn paris() -> Zone {
        Zone::of_setting("Europe/Paris").expect("a zone").0
    }

    #[test]
    fn summer_time_has_another_offset_in_all_years() {
        assert_eq!(paris().offset_at(micros(2024, 1, 1, 0)), 3600);
        assert_eq!(paris().offset_at(micros(2024, 7, 1, 0)), 7200);
        assert_eq!(paris().offset_at(micros(2300, 6, 1, 0)), 7200);
        assert_eq!(paris().offset_at(micros(290_000, 12, 1, 0)), 3600);
        assert_eq!(paris().offset_at(micros(-4000, 1, 1, 0)), 561);
    }

    #[test]
    fn an_abbreviation_has_the_offset_of_its_last_use() {
        let moscow = Zone::named("MSK").expect("an abbreviation");
        let hours = |year, month| moscow.offset_at(micros(year, month, 5, 0)) / 3600;
        // In summer 2005 the zone had MSD, from 2011 to 2014 another MSK.
        let of = [hours(1900, 1), hours(2005, 1), hours(2005, 7), hours(2012, 7), hours(2300, 7)];
        assert_eq!(of, [3, 3, 3, 4, 3]);
        // The hour from two to three on 2011-03-27 has the offset of the next.
        assert_eq!(moscow.instant(micros(2011, 3, 27, 2)), Some(micros(2011, 3, 26, 22)));
        assert_eq!(Zone::try_from(Written::from(moscow)).ok(), Some(moscow));
    }

    #[test]
    fn gaps_have_the_offset_before_and_double_times_are_the_second() {
        // 02:00 to 03:00 on 2024-03-31 does not exist, on 2024-10-27 it exists twice.
        assert_eq!(paris().instant(micros(2024, 3, 31, 2)), Some(micros(2024, 3, 31, 1)));
        assert_eq!(paris().instant(micros(2024, 10, 27, 2)), Some(micros(2024, 10, 27, 1)));
    }

    #[test]
    fn offsets_have_minutes_and_seconds_where_there_are_some() {
        let shown = |seconds| {
            let mut text = String::new();
            write_offset(seconds, &mut text);
            text
        };
        assert_eq!(shown(7200), "+02");
        assert_eq!(shown(-12_600), "-03:30");
        assert_eq!(shown(561), "+00:09:21");
        assert_eq!(shown(-17_762), "-04:56:02");
    }
}
