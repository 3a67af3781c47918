//! The fields of patterns for dates, times and intervals.

use super::pattern::{self, Letters, Parts};

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Before or after noon; `true` with points.
    Noon(bool),
    /// The era; `true` with points.
    Era(bool),
    Century,
    DayName,
    DayShort,
    DayOfYear,
    IsoDayOfYear,
    Day,
    DayOfWeek,
    IsoDayOfWeek,
    /// Digits of the fraction of a second.
    Fraction(usize),
    Millisecond,
    Microsecond,
    /// The pattern has to be matched exactly from here on.
    Exact,
    Hour24,
    Hour12,
    Minute,
    Second,
    SecondOfDay,
    IsoWeek,
    Week,
    WeekOfMonth,
    /// The year's last digits.
    Year(usize),
    IsoYear(usize),
    YearWithComma,
    Julian,
    MonthName,
    MonthShort,
    Month,
    Roman,
    Quarter,
    Zone,
    ZoneHours,
    ZoneMinutes,
    Offset,
}

/// Which calendar a field belongs to; a pattern for reading has fields of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calendar {
    Either,
    Gregorian,
    IsoWeek,
}

/// A field as it is written in patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) letters: Letters,
    /// Whether it is read as digits without a limit before it.
    pub(super) is_digits: bool,
    pub(super) calendar: Calendar,
}

/// Upper-case and lower-case name, kind, whether it is digits, calendar. A name stands before its beginnings.
const NAMES: [(&str, &str, Kind, bool, Calendar); 54] = {
    use Calendar::{Either, Gregorian, IsoWeek};
    [
        ("A.D.", "a.d.", Kind::Era(true), false, Either),
        ("A.M.", "a.m.", Kind::Noon(true), false, Either),
        ("AD", "ad", Kind::Era(false), false, Either),
        ("AM", "am", Kind::Noon(false), false, Either),
        ("B.C.", "b.c.", Kind::Era(true), false, Either),
        ("BC", "bc", Kind::Era(false), false, Either),
        ("CC", "cc", Kind::Century, true, Either),
        ("DAY", "day", Kind::DayName, false, Either),
        ("DDD", "ddd", Kind::DayOfYear, true, Gregorian),
        ("DD", "dd", Kind::Day, true, Gregorian),
        ("DY", "dy", Kind::DayShort, false, Either),
        ("D", "d", Kind::DayOfWeek, true, Gregorian),
        ("FF1", "ff1", Kind::Fraction(1), true, Either),
        ("FF2", "ff2", Kind::Fraction(2), true, Either),
        ("FF3", "ff3", Kind::Fraction(3), true, Either),
        ("FF4", "ff4", Kind::Fraction(4), true, Either),
        ("FF5", "ff5", Kind::Fraction(5), true, Either),
        ("FF6", "ff6", Kind::Fraction(6), true, Either),
        ("FX", "fx", Kind::Exact, false, Either),
        ("HH24", "hh24", Kind::Hour24, true, Either),
        ("HH12", "hh12", Kind::Hour12, true, Either),
        ("HH", "hh", Kind::Hour12, true, Either),
        ("IDDD", "iddd", Kind::IsoDayOfYear, true, IsoWeek),
        ("ID", "id", Kind::IsoDayOfWeek, true, IsoWeek),
        ("IW", "iw", Kind::IsoWeek, true, IsoWeek),
        ("IYYY", "iyyy", Kind::IsoYear(4), true, IsoWeek),
        ("IYY", "iyy", Kind::IsoYear(3), true, IsoWeek),
        ("IY", "iy", Kind::IsoYear(2), true, IsoWeek),
        ("I", "i", Kind::IsoYear(1), true, IsoWeek),
        ("J", "j", Kind::Julian, true, Either),
        ("MI", "mi", Kind::Minute, true, Either),
        ("MM", "mm", Kind::Month, true, Gregorian),
        ("MONTH", "month", Kind::MonthName, false, Gregorian),
        ("MON", "mon", Kind::MonthShort, false, Gregorian),
        ("MS", "ms", Kind::Millisecond, true, Either),
        ("OF", "of", Kind::Offset, false, Either),
        ("P.M.", "p.m.", Kind::Noon(true), false, Either),
        ("PM", "pm", Kind::Noon(false), false, Either),
        ("Q", "q", Kind::Quarter, true, Either),
        ("RM", "rm", Kind::Roman, false, Gregorian),
        ("SSSSS", "sssss", Kind::SecondOfDay, true, Either),
        ("SSSS", "ssss", Kind::SecondOfDay, true, Either),
        ("SS", "ss", Kind::Second, true, Either),
        ("TZH", "tzh", Kind::ZoneHours, false, Either),
        ("TZM", "tzm", Kind::ZoneMinutes, true, Either),
        ("TZ", "tz", Kind::Zone, false, Either),
        ("US", "us", Kind::Microsecond, true, Either),
        ("WW", "ww", Kind::Week, true, Gregorian),
        ("W", "w", Kind::WeekOfMonth, true, Gregorian),
        ("Y,YYY", "y,yyy", Kind::YearWithComma, true, Gregorian),
        ("YYYY", "yyyy", Kind::Year(4), true, Gregorian),
        ("YYY", "yyy", Kind::Year(3), true, Gregorian),
        ("YY", "yy", Kind::Year(2), true, Gregorian),
        ("Y", "y", Kind::Year(1), true, Gregorian),
    ]
};

/// Names that can be capitalized, each before the shorter that it begins with.
const CAPITALIZED: [(&str, Kind, Calendar); 4] = [
    ("Day", Kind::DayName, Calendar::Either),
    ("Dy", Kind::DayShort, Calendar::Either),
    ("Month", Kind::MonthName, Calendar::Gregorian),
    ("Mon", Kind::MonthShort, Calendar::Gregorian),
];

/// Cuts a pattern into fields and other characters.
pub(super) fn parse(pattern: &str) -> Parts<Field> {
    pattern::parse(pattern, true, find)
}

fn find(text: &str) -> Option<(Field, usize)> {
    let capital = CAPITALIZED.iter().find(|(name, ..)| text.starts_with(name));
    let field = if let Some(&(name, kind, calendar)) = capital {
        Field { name, kind, letters: Letters::Capital, is_digits: false, calendar }
    } else {
        NAMES.iter().find_map(|&(upper, lower, kind, is_digits, calendar)| {
            let (name, letters) = if text.starts_with(upper) {
                (upper, Letters::Upper)
            } else if text.starts_with(lower) {
                (lower, Letters::Lower)
            } else {
                return None;
            };
            Some(Field { name, kind, letters, is_digits, calendar })
        })?
    };
    Some((field, field.name.len()))
}

/// Months, days and their short names in English.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// Months as Roman numerals.
pub(super) const ROMAN_MONTHS: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];
