//! Names of time zones: of the database, abbreviations, offsets.

use super::Zone;
use chrono_tz::{TZ_VARIANTS, Tz};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The abbreviations of PostgreSQL's set `Default`: for an offset in seconds, or for the times of a zone; and whether an offset
/// is that of summer.
pub(super) static ABBREVIATIONS: LazyLock<HashMap<&'static str, (Zone, bool)>> =
    LazyLock::new(|| {
        let lines = include_str!("../../data/zone_abbreviations.tsv").lines();
        let entries = lines.filter_map(|line| {
            let (name, meaning) = line.split_once('\t')?;
            let (meaning, is_of_summer) =
                meaning.split_once('\t').map_or((meaning, false), |(meaning, _)| (meaning, true));
            let zone = match meaning.parse() {
                Ok(seconds) => Zone::Offset(seconds),
                Err(_) => abbreviated_in(of_database(meaning)?.0, name),
            };
            Some((name, (zone, is_of_summer)))
        });
        entries.collect()
    });

/// 2020-07-01, in microseconds since 1970.
const MIDDLE_OF_2020: i64 = 1_593_561_600_000_000;

/// The most that an offset may be, in seconds: below a week.
const OFFSET_MAX: i64 = 167 * 3600;

impl Zone {
    /// The zone of AT TIME ZONE and of texts: an abbreviation, or the name of a zone.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        Self::abbreviated(name).or_else(|| Self::full(name))
    }

    /// The zone of an abbreviation.
    pub(crate) fn abbreviated(name: &str) -> Option<Self> {
        ABBREVIATIONS.get(&*name.to_ascii_uppercase()).map(|(zone, _)| *zone)
    }

    /// The zone of a name of the database, or of POSIX notation.
    pub(crate) fn full(name: &str) -> Option<Self> {
        of_database(name).map(|(zone, _)| zone).or_else(|| posix(name))
    }

    /// Whether a text is a zone with summer time in POSIX notation: `CST6CDT,M3.2.0,M11.1.0`. It is none of ours.
    pub fn has_summer_time(text: &str) -> bool {
        let after_standard = after_name(text.trim()).trim_start_matches(['+', '-']);
        let is_offset = after_standard.starts_with(|c: char| c.is_ascii_digit());
        let summer = after_standard.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        let after_summer = after_name(summer);
        is_offset
            && after_summer.len() < summer.len()
            && after_summer.chars().next().is_none_or(|c| !c.is_alphabetic())
    }

    /// The zone of the setting `TimeZone`, and its name as SHOW displays it. A number is an offset in hours, east of
    /// Greenwich.
    pub fn of_setting(name: &str) -> Option<(Self, String)> {
        let name = name.trim();
        if let Ok(hours) = name.parse::<f64>() {
            let seconds = (hours * 3600.0).round();
            let is_offset = seconds.abs() <= OFFSET_MAX as f64;
            return is_offset.then(|| of_hours(seconds as i32));
        }
        if let Some((zone, name)) = of_database(name) {
            return Some((zone, name.to_owned()));
        }
        let name = name.to_ascii_uppercase();
        posix(&name).map(|zone| (zone.with_letters(letters(&name)), name))
    }
}

impl std::fmt::Display for Zone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::UTC => f.write_str("UTC"),
            Self::Offset(seconds) => f.write_str(&of_hours(seconds).1),
            Self::Named(tz) => f.write_str(tz.name()),
            Self::Abbreviated(_, name) => f.write_str(name),
            Self::Lettered(seconds, letters) => {
                let (_, shown) = of_hours(seconds);
                let west = after_name(&shown);
                write!(f, "<{}>{west}", letters.as_str())
            }
        }
    }
}

/// The zone of an abbreviation, which in most zones of the database is none of today.
fn abbreviated_in(zone: Zone, name: &'static str) -> Zone {
    match zone {
        Zone::Named(tz) if zone.abbreviation_at(MIDDLE_OF_2020) == name => {
            Zone::Abbreviated(tz, name)
        }
        zone => zone,
    }
}

/// An offset as SHOW displays it: the name `<-07>`, and the offset west of Greenwich.
fn of_hours(seconds: i32) -> (Zone, String) {
    let mut east = String::new();
    super::write_offset(seconds.into(), &mut east);
    let mut west = String::new();
    super::write_offset((-seconds).into(), &mut west);
    (Zone::Offset(seconds), format!("<{east}>{west}"))
}

/// A zone of the database by its name in any case.
fn of_database(name: &str) -> Option<(Zone, &'static str)> {
    let found: Tz = match name.parse() {
        Ok(found) => found,
        Err(_) => TZ_VARIANTS.iter().copied().find(|tz| tz.name().eq_ignore_ascii_case(name))?,
    };
    let zone = match found.name() {
        "UTC" | "Etc/UTC" | "GMT" | "Etc/GMT" | "UCT" | "Etc/UCT" | "Zulu" | "Etc/Zulu"
        | "Universal" | "Etc/Universal" | "Greenwich" | "Etc/Greenwich" => Zone::UTC,
        _ => Zone::Named(found),
    };
    Some((zone, found.name()))
}

/// What is behind the name at the beginning of POSIX notation, which is of letters, or of anything in brackets.
fn after_name(text: &str) -> &str {
    match text.strip_prefix('<').and_then(|quoted| quoted.split_once('>')) {
        Some((_, rest)) => rest,
        None => text.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
    }
}

/// The name at the beginning of POSIX notation.
fn letters(text: &str) -> &str {
    match text.strip_prefix('<').and_then(|quoted| quoted.split_once('>')) {
        Some((letters, _)) => letters,
        None => &text[..text.len() - after_name(text).len()],
    }
}

/// An offset in POSIX notation, after a name or without one: `UTC+3` and `<-03>3` are three hours west of Greenwich.
fn posix(text: &str) -> Option<Zone> {
    let rest = after_name(text);
    let (is_west, digits) = match rest.split_at_checked(1)? {
        ("+", digits) => (true, digits),
        ("-", digits) => (false, digits),
        _ => (true, rest),
    };
    let mut seconds = 0;
    let mut unit = 3600;
    for part in digits.split(':') {
        let is_number = !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
        let number: i64 = part.parse().ok().filter(|_| is_number)?;
        if unit == 0 || unit < 3600 && number > 59 {
            return None;
        }
        seconds += number.checked_mul(unit)?;
        unit /= 60;
    }
    let seconds = i32::try_from(seconds).ok().filter(|size| i64::from(*size) <= OFFSET_MAX)?;
    Some(Zone::Offset(if is_west { -seconds } else { seconds }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_any_case_and_offsets_count_west() {
        assert_eq!(Zone::named("cet"), Some(Zone::Offset(3600)));
        assert_eq!(Zone::named("utc"), Some(Zone::UTC));
        assert_eq!(Zone::named("UTC+3"), Some(Zone::Offset(-10_800)));
        assert_eq!(Zone::named("+05:30"), Some(Zone::Offset(-19_800)));
        assert_eq!(Zone::named("europe/paris"), Some(Zone::Named(Tz::Europe__Paris)));
        assert_eq!(Zone::named("Mars/Olympus"), None);
        assert!(Zone::has_summer_time("CST7CDT,M4.1.0,M10.5.0"));
        assert!(Zone::has_summer_time("FOO8BAR"));
        assert!(!Zone::has_summer_time("FOO8") && !Zone::has_summer_time("Mars/Olympus8"));
        assert_eq!(Zone::named(""), None);
    }

    #[test]
    fn settings_are_shown_with_the_name_of_the_database() {
        let shown = |name| Zone::of_setting(name).map(|(_, shown)| shown);
        assert_eq!(shown("america/new_york").as_deref(), Some("America/New_York"));
        assert_eq!(shown("-7").as_deref(), Some("<-07>+07"));
        assert_eq!(shown("5.5").as_deref(), Some("<+05:30>-05:30"));
        assert_eq!(shown("PDT"), None);
        assert_eq!(shown("foo3").as_deref(), Some("FOO3"));
    }

    #[test]
    fn a_setting_in_posix_notation_has_letters() {
        let zone = |name| Zone::of_setting(name).expect("a zone").0;
        for (name, shown) in
            [("UTC+3", "UTC"), ("foo-5:30", "FOO"), ("<+07>-7", "+07"), ("+05:30", "")]
        {
            let of = zone(name);
            assert_eq!(of.abbreviation_at(0), shown, "{name}");
            assert_eq!(Zone::of_setting(&of.to_string()).map(|(zone, _)| zone), Some(of), "{name}");
        }
        assert_eq!(zone("FOO-5:30").offset_at(0), 19_800);
        assert_eq!(zone("UTC0"), Zone::UTC);
        assert_eq!(zone("ABCDEFGHIJKLMNOPQRSTUVWXYZ3"), Zone::Offset(-10_800));
    }
}
