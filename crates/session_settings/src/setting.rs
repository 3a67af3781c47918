//! What a setting is: its type, its valid values, and how they are read and displayed.

use crate::memory;
use crate::spelling::shown_name;
use std::fmt::Display;
use std::time::Duration;
use values::input::unknown_zone;
use values::zone::Zone;
use values::{Error, Result, SqlState};

/// A setting.
#[derive(Debug)]
pub struct Known {
    /// Its name, in lower case.
    pub name: &'static str,
    /// Its default, as SHOW displays it.
    pub default: &'static str,
    /// Its valid values.
    pub kind: Kind,
    /// A description of one line, for users.
    pub meaning: &'static str,
}

/// The type and the valid values of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Any text.
    Text,
    /// `on` or `off`.
    Flag,
    /// An integer between a minimum and a maximum, both included.
    Number(i64, i64),
    /// A number between a minimum and a maximum, both included.
    Real(f64, f64),
    /// An amount of memory: the size of its unit in kilobytes, and the least and the greatest number of units.
    Memory(i64, i64, i64),
    /// One of these values.
    Choice(&'static [&'static str]),
    /// Milliseconds; 0 means no limit.
    Duration,
    /// The encoding of text in the protocol: a name of UTF-8 or SQL_ASCII.
    Encoding,
    /// The style `ISO` and the order of the fields of dates.
    DateStyle,
    /// The name of a time zone, or its offset from UTC in hours.
    TimeZone,
    /// Only the default, or another spelling of it.
    Always,
    /// Cannot be set.
    Internal,
    /// Set with ALTER SYSTEM for all servers.
    System,
}

pub(crate) const fn known(
    name: &'static str,
    default: &'static str,
    kind: Kind,
    meaning: &'static str,
) -> Known {
    Known { name, default, kind, meaning }
}

impl Known {
    /// Whether sessions cannot set it.
    pub fn is_fixed(&self) -> bool {
        matches!(self.kind, Kind::Internal | Kind::System)
    }

    /// A value in canonical form, as it is stored and displayed.
    ///
    /// # Errors
    /// 22023 for an invalid value, 55P02 if sessions cannot set it.
    pub fn canonical(&self, value: &str) -> Result<String> {
        let lower = value.to_lowercase();
        match self.kind {
            Kind::Text => Ok(value.to_owned()),
            Kind::Flag => {
                flag(self.name, &lower).map(|flag| if flag { "on" } else { "off" }.to_owned())
            }
            Kind::Number(least, most) => {
                let number: i64 = value.trim().parse().map_err(|_| self.invalid(value))?;
                if (least..=most).contains(&number) {
                    Ok(number.to_string())
                } else {
                    Err(self.outside(&number.to_string(), least, most))
                }
            }
            Kind::Real(least, most) => self.real(value, least, most),
            Kind::Memory(kilobytes, least, most) => self.memory(value, kilobytes, least, most),
            Kind::Choice(choices) => match choice(choices, &lower) {
                Some(choice) => Ok(choice.to_owned()),
                None => {
                    let hint = format!("Available values: {}.", choices.join(", "));
                    Err(self.invalid(value).with_hint(hint))
                }
            },
            Kind::Duration => Ok(shown(self.duration(value)?)),
            Kind::Encoding => {
                match lower.replace(|c: char| !c.is_ascii_alphanumeric(), "").as_str() {
                    "utf8" | "unicode" => Ok("UTF8".to_owned()),
                    // Text is not converted, so it is UTF-8 for SQL_ASCII, too.
                    "sqlascii" => Ok("SQL_ASCII".to_owned()),
                    _ => {
                        Err(self.invalid(value).with_hint("Text is always sent and taken in UTF8."))
                    }
                }
            }
            Kind::DateStyle => self.date_style(&lower, self.default),
            Kind::TimeZone => {
                let zone = Zone::of_setting(value).map(|(_, name)| name);
                zone.ok_or_else(|| match unknown_zone(value) {
                    refused if refused.state() == SqlState::FeatureNotSupported => refused,
                    _ => self.invalid(value),
                })
            }
            Kind::Always if is_same(self, value) => Ok(self.default.to_owned()),
            Kind::Always => Err(self.always(&lower)?),
            Kind::Internal | Kind::System if lower == self.default.to_lowercase() => {
                Ok(self.default.to_owned())
            }
            Kind::System => {
                let message = format!("parameter \"{}\" cannot be changed now", self.name);
                let error = Error::new(SqlState::CantChangeRuntimeParameter, message);
                Err(error.with_hint("ALTER SYSTEM SET changes it, for all servers."))
            }
            Kind::Internal => {
                let message = format!("parameter \"{}\" cannot be changed", self.name);
                Err(Error::new(SqlState::CantChangeRuntimeParameter, message))
            }
        }
    }

    fn real(&self, value: &str, least: f64, most: f64) -> Result<String> {
        let number: f64 = value.trim().parse().map_err(|_| self.invalid(value))?;
        match (least..=most).contains(&number) {
            true => Ok(number.to_string()),
            // The greatest bound has 309 digits.
            false => Err(self.outside(value, least, format!("{most:e}"))),
        }
    }

    fn memory(&self, value: &str, kilobytes: i64, least: i64, most: i64) -> Result<String> {
        let invalid = || self.invalid(value).with_hint(memory::UNITS);
        let number = memory::parse(value, kilobytes).ok_or_else(invalid)?;
        match (least..=most).contains(&number) {
            true => Ok(memory::shown(number.saturating_mul(kilobytes))),
            false if number.unsigned_abs() > u64::from(i32::MAX.unsigned_abs()) => {
                Err(self.invalid(value).with_hint("Value exceeds integer range."))
            }
            false => {
                let unit = if kilobytes == 1 { "kB".to_owned() } else { memory::shown(kilobytes) };
                Err(self.outside(&format!("{number} {unit}"), least, most))
            }
        }
    }

    /// A value as `pg_settings` displays it: amounts as numbers of the unit.
    pub fn plain(&self, value: &str) -> String {
        let number = match self.kind {
            Kind::Duration => {
                let duration = self.duration(value).ok();
                duration.map(|limit| limit.map_or(0, |limit| limit.as_millis()).to_string())
            }
            Kind::Memory(kilobytes, ..) => {
                memory::parse(value, kilobytes).map(|number| number.to_string())
            }
            _ => None,
        };
        number.unwrap_or_else(|| value.to_owned())
    }

    /// A `datestyle`: an output format, an order, or both; what is not given is as in a style before. Two formats or two
    /// orders are a conflict.
    ///
    /// # Errors
    /// 22023: unknown words, or a conflict.
    pub(crate) fn date_style(&self, value: &str, before: &str) -> Result<String> {
        let (mut format, mut order): (Option<&str>, Option<&str>) = (None, None);
        let set = |of: &mut Option<&'static str>, to: &'static str| {
            let is_conflict = of.is_some_and(|known| known != to);
            *of = Some(to);
            let conflict = "Conflicting \"datestyle\" specifications.";
            if is_conflict { Err(self.invalid(value).with_detail(conflict)) } else { Ok(()) }
        };
        let before = before.split_once(", ").unwrap_or(("ISO", "MDY"));
        for word in value.split([',', ' ']).filter(|word| !word.is_empty()) {
            let begins = |start: &str| word.starts_with(start);
            match word {
                "iso" => set(&mut format, "ISO")?,
                "sql" => set(&mut format, "SQL")?,
                _ if begins("postgres") => set(&mut format, "Postgres")?,
                // The German format implies its order, which another word may change.
                _ if begins("german") => set(&mut format, "German")?,
                "ymd" => set(&mut order, "YMD")?,
                "dmy" => set(&mut order, "DMY")?,
                "mdy" | "us" => set(&mut order, "MDY")?,
                _ if begins("euro") => set(&mut order, "DMY")?,
                _ if begins("noneuro") => set(&mut order, "MDY")?,
                "default" => {
                    format = format.or(Some("ISO"));
                    order = order.or(Some("MDY"));
                }
                word => {
                    let detail = format!("Unrecognized key word: \"{word}\".");
                    return Err(self.invalid(value).with_detail(detail));
                }
            }
        }
        let order = match (format, order) {
            (Some("German"), None) => "DMY",
            (_, order) => order.unwrap_or(before.1),
        };
        Ok(format!("{}, {order}", format.unwrap_or(before.0)))
    }

    /// Parses a duration: milliseconds, or a number with a unit. `None` (0) means no limit.
    ///
    /// # Errors
    /// 22023 for an invalid duration.
    pub(crate) fn duration(&self, text: &str) -> Result<Option<Duration>> {
        const MOST: i64 = i32::MAX as i64;
        let text = text.trim();
        let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
        let (number, unit) = text.split_at(text.len() - text.trim_start_matches(digits).len());
        let millis = match unit.trim() {
            "us" => Some(0.001),
            "" | "ms" => Some(1.0),
            "s" => Some(1e3),
            "min" => Some(60e3),
            "h" => Some(3600e3),
            "d" => Some(86_400e3),
            _ => None,
        };
        let number: Option<f64> = number.parse().ok();
        let Some(millis) = number.zip(millis).map(|(number, unit)| (number * unit).round()) else {
            let hint = "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".";
            return Err(self.invalid(text).with_hint(hint));
        };
        let millis = millis as i64;
        if !(0..=MOST).contains(&millis) {
            return Err(self.outside(&format!("{millis} ms"), 0, MOST));
        }
        Ok((millis > 0).then(|| Duration::from_millis(millis.unsigned_abs())))
    }

    /// The refusal of another value than the only one: 0A000 where PostgreSQL takes it.
    fn always(&self, value: &str) -> Result<Error> {
        let hint = format!("It is always {}.", self.default);
        if matches!(self.default, "on" | "off") {
            flag(self.name, value)?;
        } else if self.name == "default_table_access_method" {
            return Ok(self.invalid(value).with_hint(hint));
        }
        let message = format!("setting {} to {value} is not supported", self.name);
        Ok(Error::unsupported(message).with_hint(hint))
    }

    fn invalid(&self, value: &str) -> Error {
        let name = shown_name(self.name);
        let message = format!("invalid value for parameter \"{name}\": \"{value}\"");
        Error::new(SqlState::InvalidParameterValue, message)
    }

    fn outside(&self, number: &str, least: impl Display, most: impl Display) -> Error {
        let name = self.name;
        let message = format!(
            "{number} is outside the valid range for parameter \"{name}\" ({least} .. {most})"
        );
        Error::new(SqlState::InvalidParameterValue, message)
    }
}

/// The choice that a value means: where `on` and `off` are choices, it may be spelled as another truth value.
fn choice(choices: &[&'static str], lower: &str) -> Option<&'static str> {
    let spelled = match lower {
        "true" | "yes" | "1" => "on",
        "false" | "no" | "0" => "off",
        other => other,
    };
    let named = |name: &str| choices.iter().copied().find(|choice| *choice == name);
    named(lower).or_else(|| named(spelled))
}

/// Parses a Boolean value, which may be abbreviated.
fn flag(name: &str, value: &str) -> Result<bool> {
    let is = |word: &str| !value.is_empty() && word.starts_with(value);
    match value {
        "1" | "on" => Ok(true),
        "0" => Ok(false),
        _ if is("true") || is("yes") => Ok(true),
        _ if is("false") || is("no") || value == "of" || value == "off" => Ok(false),
        _ => {
            let message = format!("parameter \"{name}\" requires a Boolean value");
            Err(Error::new(SqlState::InvalidParameterValue, message))
        }
    }
}

/// A duration as text, in the largest unit that gives a whole number.
pub(crate) fn shown(limit: Option<Duration>) -> String {
    let millis = limit.map_or(0, |limit| limit.as_millis());
    let units = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)];
    let whole = units.iter().find(|(_, unit)| millis > 0 && millis.is_multiple_of(*unit));
    whole.map_or("0".to_owned(), |(name, unit)| format!("{}{name}", millis / unit))
}

/// Whether a value is another spelling of the default.
fn is_same(known: &Known, value: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', ' '], "");
    match known.default {
        "on" | "off" => {
            flag("", &value.to_lowercase()).is_ok_and(|is_on| is_on == (known.default == "on"))
        }
        default => plain(default) == plain(value),
    }
}
