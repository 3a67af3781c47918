//! Moments as text.

use super::calendar::{JULIAN_1970, Moment};
use super::moment_fields::{DAYS, Field, Kind, MONTHS, ROMAN_MONTHS};
use super::pattern::{Letters, Modifiers, Part, Parts, ordinal};
use std::fmt::Write;
use values::error::{Error, Result, SqlState};

/// Appends a moment.
///
/// # Errors
/// 22007: an interval has no such field.
pub(super) fn write(pattern: &Parts<Field>, moment: &Moment, out: &mut String) -> Result<()> {
    for (part, character) in pattern {
        match part {
            Part::Field(field, modifiers) => write_field(field, *modifiers, moment, out)?,
            _ => out.extend(character),
        }
    }
    Ok(())
}

fn write_field(
    field: &Field,
    modifiers: Modifiers,
    moment: &Moment,
    out: &mut String,
) -> Result<()> {
    if moment.is_interval && !is_of_intervals(field.kind) {
        let message = "invalid format specification for an interval value";
        let hint = "Intervals are not tied to specific calendar dates.";
        return Err(Error::new(SqlState::InvalidDatetimeFormat, message).with_hint(hint));
    }
    if let Some((number, width)) = number(field.kind, moment) {
        let start = out.len();
        let is_fraction =
            matches!(field.kind, Kind::Fraction(_) | Kind::Millisecond | Kind::Microsecond);
        let width = if modifiers.fill && !is_fraction { 0 } else { width };
        push(out, format_args!("{number:0width$}"));
        if let Some(letters) = modifiers.ordinal {
            let ending = ordinal(&out[start..], letters);
            out.push_str(ending);
        }
        return Ok(());
    }
    match field.kind {
        Kind::YearWithComma => {
            let (year, start) = (shown_year(moment.year, moment), out.len());
            push(out, format_args!("{},{:03}", year / 1000, year % 1000));
            if let Some(letters) = modifiers.ordinal {
                let ending = ordinal(&out[start..], letters);
                out.push_str(ending);
            }
        }
        _ => write_name(field, modifiers, moment, out),
    }
    Ok(())
}

/// Whether a field exists without a date.
fn is_of_intervals(kind: Kind) -> bool {
    !matches!(
        kind,
        Kind::Era(_)
            | Kind::DayName
            | Kind::DayShort
            | Kind::DayOfWeek
            | Kind::IsoDayOfWeek
            | Kind::MonthName
            | Kind::MonthShort
            | Kind::Zone
            | Kind::ZoneHours
            | Kind::ZoneMinutes
            | Kind::Offset
    )
}

/// A field that is a number, and its width when it is filled up.
fn number(kind: Kind, moment: &Moment) -> Option<(i64, usize)> {
    let micros = |digits: usize| moment.micros / 10_i64.pow(6 - digits as u32);
    // A sign widens some fields.
    let signed = |number: i64, width: usize| (number, width + usize::from(number < 0));
    Some(match kind {
        Kind::Hour12 => {
            let hour = if moment.hour % 12 == 0 { 12 } else { moment.hour % 12 };
            (hour, if moment.hour < 0 { 3 } else { 2 })
        }
        Kind::Hour24 => signed(moment.hour, 2),
        Kind::Minute => signed(moment.minute, 2),
        Kind::Second => signed(moment.second, 2),
        Kind::Fraction(digits) => (micros(digits), digits),
        Kind::Millisecond => (micros(3), 3),
        Kind::Microsecond => (micros(6), 6),
        Kind::SecondOfDay => (moment.hour * 3600 + moment.minute * 60 + moment.second, 0),
        Kind::Month => signed(moment.month, 2),
        Kind::DayOfYear => (moment.day_of_year, 3),
        Kind::IsoDayOfYear => (moment.iso().2, 3),
        Kind::Day => (moment.day, 2),
        Kind::DayOfWeek => (moment.day_of_week + 1, 0),
        Kind::IsoDayOfWeek => ((moment.day_of_week + 6) % 7 + 1, 0),
        Kind::Week => ((moment.day_of_year - 1) / 7 + 1, 2),
        Kind::IsoWeek => (moment.iso().1, 2),
        Kind::WeekOfMonth => ((moment.day - 1) / 7 + 1, 0),
        Kind::Quarter if moment.month != 0 => ((moment.month - 1) / 3 + 1, 0),
        Kind::Century => signed(century(moment), 2),
        Kind::Year(digits) => year(moment.year, digits, moment),
        Kind::IsoYear(digits) => year(moment.iso().0, digits, moment),
        Kind::Julian => (moment.days() + JULIAN_1970, 0),
        _ => return None,
    })
}

/// The last digits of a year, and their width.
fn year(year: i64, digits: usize, moment: &Moment) -> (i64, usize) {
    let year = shown_year(year, moment);
    let is_negative = shown_year(moment.year, moment) < 0;
    let width = if digits == 1 { 0 } else { digits + usize::from(is_negative) };
    (if digits == 4 { year } else { year % 10_i64.pow(digits as u32) }, width)
}

fn century(moment: &Moment) -> i64 {
    match moment.year {
        year if moment.is_interval => year / 100,
        year if year > 0 => (year - 1) / 100 + 1,
        year => year / 100 - 1,
    }
}

/// Years BC are counted, too.
fn shown_year(year: i64, moment: &Moment) -> i64 {
    if moment.is_interval || year > 0 { year } else { 1 - year }
}

fn write_name(field: &Field, modifiers: Modifiers, moment: &Moment, out: &mut String) {
    let month = usize::try_from(moment.month - 1).ok().filter(|month| *month < 12);
    let day = usize::try_from(moment.day_of_week).unwrap_or(0);
    let zone = match field.kind {
        Kind::ZoneHours | Kind::ZoneMinutes | Kind::Offset => {
            let offset = moment.zone.as_ref().map_or(0, |zone| zone.offset);
            zone_part(field.kind, offset, modifiers.fill)
        }
        _ => String::new(),
    };
    // Names that are filled up have the width of the longest.
    let (name, width) = match field.kind {
        Kind::Noon(true) if moment.hour % 24 >= 12 => ("P.M.", 0),
        Kind::Noon(true) => ("A.M.", 0),
        Kind::Noon(false) if moment.hour % 24 >= 12 => ("PM", 0),
        Kind::Noon(false) => ("AM", 0),
        Kind::Era(true) => (if moment.year <= 0 { "B.C." } else { "A.D." }, 0),
        Kind::Era(false) => (if moment.year <= 0 { "BC" } else { "AD" }, 0),
        Kind::MonthName => (month.map_or("", |month| MONTHS[month]), 9),
        Kind::MonthShort => (month.map_or("", |month| &MONTHS[month][..3]), 0),
        Kind::DayName => (DAYS[day], 9),
        Kind::DayShort => (&DAYS[day][..3], 0),
        Kind::Roman => (roman_month(moment), 4),
        Kind::Zone => (moment.zone.as_ref().map_or("", |zone| &zone.name), 0),
        Kind::ZoneHours | Kind::ZoneMinutes | Kind::Offset => (zone.as_str(), 0),
        _ => return,
    };
    let is_short = modifiers.fill || modifiers.local && field.kind != Kind::Roman;
    let width = if is_short || name.is_empty() { 0 } else { width };
    let name = match field.letters {
        Letters::Lower => name.to_ascii_lowercase(),
        Letters::Upper => name.to_ascii_uppercase(),
        Letters::Capital => name.to_owned(),
    };
    push(out, format_args!("{name:width$}"));
}

/// The hours or the minutes of an offset in seconds, or both if there are minutes.
fn zone_part(kind: Kind, offset: i64, is_filled: bool) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
    match kind {
        Kind::ZoneHours => format!("{sign}{hours:02}"),
        Kind::ZoneMinutes => format!("{minutes:02}"),
        _ => {
            let hours = if is_filled { hours.to_string() } else { format!("{hours:02}") };
            let minutes = if minutes == 0 { String::new() } else { format!(":{minutes:02}") };
            format!("{sign}{hours}{minutes}")
        }
    }
}

/// An interval of whole years is in its last month, since twelve months are a year.
fn roman_month(moment: &Moment) -> &'static str {
    let month = match (moment.year, moment.month) {
        (0, 0) => return "",
        (year, 0) if year >= 0 => 12,
        (_, 0) => 1,
        (_, month) if month < 0 => 13 + month,
        (_, month) => month,
    };
    usize::try_from(month - 1).ok().and_then(|month| ROMAN_MONTHS.get(month)).unwrap_or(&"")
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = out.write_fmt(text);
}
