//! Text as moments: the fields that a pattern names, read one after the other.

use super::moment_fields::{Calendar, DAYS, Field, Kind, MONTHS, ROMAN_MONTHS};
use super::pattern::{Modifiers, Part, Parts, is_separator, is_space};
use values::error::{Error, Result, SqlState};

/// What was read. Zero is a field that was not.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    pub(super) calendar: Option<Calendar>,
    pub(super) hour: i32,
    pub(super) minute: i32,
    pub(super) second: i32,
    pub(super) second_of_day: i32,
    pub(super) millis: i32,
    pub(super) micros: i32,
    pub(super) is_afternoon: i32,
    pub(super) has_twelve_hours: bool,
    pub(super) is_before_christ: i32,
    /// From Sunday, 1.
    pub(super) day_of_week: i32,
    pub(super) day: i32,
    pub(super) day_of_year: i32,
    pub(super) month: i32,
    pub(super) year: i32,
    pub(super) year_digits: usize,
    pub(super) century: i32,
    pub(super) week: i32,
    pub(super) week_of_month: i32,
    pub(super) julian: i32,
    /// Digits of a second's fraction, if the pattern names so many.
    pub(super) fraction_digits: usize,
    pub(super) zone_sign: i32,
    pub(super) zone_hours: i32,
    pub(super) zone_minutes: i32,
}

/// Reads a text. What it has behind the pattern's end does not matter.
///
/// # Errors
/// 22007, 22008: the text does not have a field that the pattern names.
pub(super) fn read(pattern: &Parts<Field>, text: &str) -> Result<Fields> {
    let mut reader = Reader { text, at: 0, extra: 0, is_exact: false };
    let mut fields = Fields::default();
    for (index, (part, _)) in pattern.iter().enumerate() {
        if reader.rest().is_empty() {
            break;
        }
        if !reader.is_exact && (index == 0 || matches!(part, Part::Field(..))) {
            reader.extra += reader.skip_spaces();
        }
        match part {
            Part::Field(field, modifiers) => {
                let place = Place {
                    field,
                    modifiers: *modifiers,
                    is_open: modifiers.fill || is_followed_by_no_digit(pattern, index),
                };
                field_of(&mut reader, &place, &mut fields)?;
                if !reader.is_exact {
                    reader.extra = reader.skip_spaces();
                }
            }
            Part::Separator | Part::Space(_) => reader.separator(),
            Part::Text(_) => reader.character(),
        }
    }
    Ok(fields)
}

/// The text, and where reading is.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Characters that were skipped in addition to those of the pattern.
    extra: i32,
    is_exact: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) -> i32 {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start_matches(is_space).len();
        self.at += skipped;
        skipped as i32
    }

    fn skip_character(&mut self) {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    /// One separator of the pattern is one of the text, or none.
    fn separator(&mut self) {
        if self.is_exact {
            return self.skip_character();
        }
        self.extra -= 1;
        if self.rest().starts_with(|next| is_space(next) || is_separator(next)) {
            self.at += 1;
            self.extra += 1;
        }
    }

    /// Another character of the pattern is any of the text, unless one too many was skipped before.
    fn character(&mut self) {
        if !self.is_exact && self.extra > 0 {
            self.extra -= 1;
        } else {
            self.skip_character();
        }
    }

    /// Takes a sign and digits; `None` without digits.
    fn number(&mut self, length: Option<usize>) -> Option<i64> {
        let rest = self.rest();
        let end = length.map_or(rest.len(), |length| length.min(rest.len()));
        let bytes = &rest.as_bytes()[..end];
        let spaces = bytes.iter().take_while(|byte| is_space(char::from(**byte))).count();
        let sign = usize::from(matches!(bytes.get(spaces), Some(b'+' | b'-')));
        let start = spaces + sign;
        let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        self.at += start + digits;
        let magnitude = rest[start..start + digits].parse::<i64>().unwrap_or(i64::MAX);
        Some(if bytes[spaces] == b'-' { -magnitude } else { magnitude })
    }
}

/// A field in its pattern.
struct Place<'a> {
    field: &'a Field,
    modifiers: Modifiers,
    /// Whether all digits belong to it that there are.
    is_open: bool,
}

fn is_followed_by_no_digit(pattern: &Parts<Field>, index: usize) -> bool {
    if let (Part::Field(_, Modifiers { ordinal: Some(_), .. }), _) = pattern[index] {
        return true;
    }
    match pattern.get(index + 1) {
        Some((Part::Field(next, _), _)) => !next.is_digits,
        Some((_, character)) => !character.is_some_and(|next| next.is_ascii_digit()),
        None => true,
    }
}

impl Place<'_> {
    fn invalid(&self, message: String) -> Error {
        let _ = self;
        Error::new(SqlState::InvalidDatetimeFormat, message)
    }

    /// Reads an integer of `length` digits; returns how many characters it had.
    fn integer(&self, reader: &mut Reader<'_>, length: usize, into: &mut i32) -> Result<usize> {
        let (begin, name) = (reader.at, self.field.name);
        reader.skip_spaces();
        let number = if self.is_open {
            reader.number(None)
        } else {
            let rest = reader.rest();
            let left = rest.len();
            if left < length {
                let message = format!("source string too short for \"{name}\" formatting field");
                let detail = format!("Field requires {length} characters, but only {left} remain.");
                let hint =
                    "If your source string is not fixed-width, try using the \"FM\" modifier.";
                return Err(self.invalid(message).with_detail(detail).with_hint(hint));
            }
            let start = reader.at;
            let number = reader.number(Some(length));
            let used = reader.at - start;
            if number.is_some() && used < length {
                let message = format!("invalid value \"{}\" for \"{name}\"", shown(rest, length));
                let detail =
                    format!("Field requires {length} characters, but only {used} could be parsed.");
                return Err(self.invalid(message).with_detail(detail));
            }
            number
        };
        let Some(number) = number else {
            let text = shown(&reader.text[begin..], length);
            let message = format!("invalid value \"{text}\" for \"{name}\"");
            return Err(self.invalid(message).with_detail("Value must be an integer."));
        };
        let number = i32::try_from(number).map_err(|_| {
            let message = format!("value for \"{name}\" in source string is out of range");
            let detail = format!("Value must be in the range {} to {}.", i32::MIN, i32::MAX);
            Error::new(SqlState::DatetimeFieldOverflow, message).with_detail(detail)
        })?;
        self.set(into, number)?;
        Ok(reader.at - begin)
    }

    /// Two fields must not say different things.
    fn set(&self, into: &mut i32, value: i32) -> Result<()> {
        if *into != 0 && *into != value {
            let message = format!(
                "conflicting values for \"{}\" field in formatting string",
                self.field.name
            );
            let detail = "This value contradicts a previous setting for the same field type.";
            return Err(self.invalid(message).with_detail(detail));
        }
        *into = value;
        Ok(())
    }

    /// Reads one of some names, in any case; returns which.
    fn name<'n>(
        &self,
        reader: &mut Reader<'_>,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<i32> {
        let rest = reader.rest().as_bytes();
        let begins = |name: &str| {
            rest.get(..name.len()).is_some_and(|text| text.eq_ignore_ascii_case(name.as_bytes()))
        };
        let found = names.into_iter().enumerate().find(|(_, name)| begins(name));
        let Some((index, name)) = found else {
            let word = reader.rest().split(is_space).next().unwrap_or_default();
            let message = format!("invalid value \"{word}\" for \"{}\"", self.field.name);
            let detail = "The given value did not match any of the allowed values for this field.";
            return Err(self.invalid(message).with_detail(detail));
        };
        reader.at += name.len();
        Ok(index as i32)
    }

    /// Skips the ending of an ordinal number, whatever it is.
    fn skip_ordinal(&self, reader: &mut Reader<'_>) {
        if self.modifiers.ordinal.is_some() {
            reader.skip_character();
            reader.skip_character();
        }
    }
}

/// As much of a text as a field has.
fn shown(text: &str, length: usize) -> &str {
    let end = (0..=length.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

fn field_of(reader: &mut Reader<'_>, place: &Place<'_>, fields: &mut Fields) -> Result<()> {
    let field = place.field;
    set_calendar(fields, field.calendar)?;
    let length = field.name.len();
    match field.kind {
        Kind::Exact => reader.is_exact = true,
        Kind::Noon(points) => {
            let names = if points { ["a.m.", "p.m."] } else { ["am", "pm"] };
            let index = place.name(reader, names)?;
            place.set(&mut fields.is_afternoon, index)?;
            fields.has_twelve_hours = true;
        }
        Kind::Era(points) => {
            let names = if points { ["a.d.", "b.c."] } else { ["ad", "bc"] };
            let index = place.name(reader, names)?;
            place.set(&mut fields.is_before_christ, index)?;
        }
        Kind::MonthName | Kind::MonthShort => {
            let characters = if field.kind == Kind::MonthName { 9 } else { 3 };
            let names = MONTHS.iter().map(|name| &name[..characters.min(name.len())]);
            let month = place.name(reader, names)? + 1;
            place.set(&mut fields.month, month)?;
        }
        Kind::DayName | Kind::DayShort => {
            let characters = if field.kind == Kind::DayName { 9 } else { 3 };
            let names = DAYS.iter().map(|name| &name[..characters.min(name.len())]);
            let day = place.name(reader, names)?;
            if fields.day_of_week != 0 {
                place.set(&mut fields.day_of_week, day)?;
            }
            fields.day_of_week = day + 1;
        }
        Kind::Roman => {
            // The longer ones first, of which others are beginnings.
            let index = place.name(reader, ROMAN_MONTHS.iter().rev().copied())?;
            place.set(&mut fields.month, 12 - index)?;
        }
        Kind::Zone | Kind::Offset => {
            let message =
                format!("formatting field \"{}\" is only supported in to_char", field.name);
            return Err(Error::new(SqlState::FeatureNotSupported, message));
        }
        Kind::ZoneHours => zone_hours(reader, place, fields)?,
        Kind::ZoneMinutes => {
            if fields.zone_sign == 0 {
                fields.zone_sign = 1;
            }
            place.integer(reader, 2, &mut fields.zone_minutes)?;
        }
        Kind::YearWithComma => year_with_comma(reader, place, fields)?,
        Kind::Year(digits) | Kind::IsoYear(digits) => {
            let read = place.integer(reader, length, &mut fields.year)?;
            if digits < 4 && read < 4 {
                fields.year = near_2020(fields.year);
            }
            fields.year_digits = digits;
            place.skip_ordinal(reader);
        }
        _ => return number_of(reader, place, fields),
    }
    Ok(())
}

/// Reads the fields that are plain numbers.
fn number_of(reader: &mut Reader<'_>, place: &Place<'_>, fields: &mut Fields) -> Result<()> {
    let length = place.field.name.len();
    let (length, into) = match place.field.kind {
        Kind::Hour12 => {
            fields.has_twelve_hours = true;
            (2, &mut fields.hour)
        }
        Kind::Hour24 => (2, &mut fields.hour),
        Kind::Minute => (length, &mut fields.minute),
        Kind::Second => (length, &mut fields.second),
        Kind::SecondOfDay => (length, &mut fields.second_of_day),
        Kind::Month => (length, &mut fields.month),
        Kind::DayOfYear => (length, &mut fields.day_of_year),
        Kind::IsoDayOfYear => (3, &mut fields.day_of_year),
        Kind::Day => (length, &mut fields.day),
        Kind::DayOfWeek => (length, &mut fields.day_of_week),
        Kind::IsoDayOfWeek => (1, &mut fields.day_of_week),
        Kind::Week | Kind::IsoWeek => (length, &mut fields.week),
        Kind::WeekOfMonth => (length, &mut fields.week_of_month),
        Kind::Century => (length, &mut fields.century),
        Kind::Julian => (length, &mut fields.julian),
        Kind::Millisecond => (3, &mut fields.millis),
        Kind::Microsecond => (6, &mut fields.micros),
        Kind::Fraction(digits) => {
            fields.fraction_digits = digits;
            (digits, &mut fields.micros)
        }
        // A quarter says too little about a date.
        _ => (length, &mut 0),
    };
    let read = place.integer(reader, length, into)?;
    match place.field.kind {
        // 25 is a quarter of a second, and so is 250.
        Kind::Millisecond => *into = into.saturating_mul(digits_to(3, read)),
        Kind::Microsecond | Kind::Fraction(_) => *into = into.saturating_mul(digits_to(6, read)),
        Kind::IsoDayOfWeek => *into = if *into >= 7 { 1 } else { *into + 1 },
        _ => (),
    }
    place.skip_ordinal(reader);
    Ok(())
}

/// What makes a fraction of `read` digits one of `digits`.
fn digits_to(digits: usize, read: usize) -> i32 {
    10_i32.pow(digits.saturating_sub(read) as u32)
}

fn set_calendar(fields: &mut Fields, calendar: Calendar) -> Result<()> {
    if calendar == Calendar::Either {
        return Ok(());
    }
    if fields.calendar.is_some_and(|before| before != calendar) {
        let hint = "Do not mix Gregorian and ISO week date conventions in a formatting template.";
        let error =
            Error::new(SqlState::InvalidDatetimeFormat, "invalid combination of date conventions");
        return Err(error.with_hint(hint));
    }
    fields.calendar = Some(calendar);
    Ok(())
}

/// A minus may have been skipped as a separator: it is the sign if there were more than in the pattern.
fn zone_hours(reader: &mut Reader<'_>, place: &Place<'_>, fields: &mut Fields) -> Result<()> {
    let before = reader.text[..reader.at].chars().next_back();
    let next = reader.rest().chars().next();
    fields.zone_sign = match next {
        Some('-') => -1,
        Some('+' | ' ') => 1,
        _ if reader.extra > 0 && before == Some('-') => -1,
        _ => 1,
    };
    if matches!(next, Some('+' | '-' | ' ')) {
        reader.at += 1;
    }
    place.integer(reader, 2, &mut fields.zone_hours).map(|_| ())
}

fn year_with_comma(reader: &mut Reader<'_>, place: &Place<'_>, fields: &mut Fields) -> Result<()> {
    let invalid = || place.invalid("invalid input string for \"Y,YYY\"".to_owned());
    let thousands = reader.number(None).ok_or_else(invalid)?;
    if !reader.rest().starts_with(',') {
        return Err(invalid());
    }
    reader.at += 1;
    let years = reader.number(Some(3)).ok_or_else(invalid)?;
    let year =
        i32::try_from(thousands.saturating_mul(1000).saturating_add(years)).map_err(|_| {
            Error::new(
                SqlState::DatetimeFieldOverflow,
                "value for \"Y,YYY\" in source string is out of range",
            )
        })?;
    place.set(&mut fields.year, year)?;
    fields.year_digits = 4;
    place.skip_ordinal(reader);
    Ok(())
}

/// Completes a year of less than four digits to the one that is nearest to 2020.
fn near_2020(year: i32) -> i32 {
    match year {
        ..70 => year + 2000,
        70..100 => year + 1900,
        100..520 => year + 2000,
        520..1000 => year + 1000,
        _ => year,
    }
}
