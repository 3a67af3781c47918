//! Zones behind a time: by name, or as an offset from UTC.

use crate::DatetimeError;
use crate::digits::integer;
use crate::zone::Zone;

/// The most hours of an offset from UTC.
const OFFSET_HOURS_MAX: i64 = 15;

/// A zone by its name in the database, or in POSIX notation.
pub(super) fn named(name: &str) -> Result<Zone, DatetimeError> {
    Zone::full(name).ok_or_else(|| DatetimeError::Zone(name.to_owned()))
}

/// `+02`, `-0530`, `+02:00`, `+02:00:30`.
pub(super) fn offset(text: &str) -> Result<Zone, DatetimeError> {
    let is_west = match text.as_bytes().first() {
        Some(b'+') => false,
        Some(b'-') => true,
        _ => return Err(DatetimeError::Syntax),
    };
    let number = |text| integer(text).map_err(|_| DatetimeError::Displacement);
    let (mut hours, mut rest) = number(&text[1..])?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (minutes, rest) = number(after)?;
        if let Some(after) = rest.strip_prefix(':') {
            (seconds, rest) = number(after)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    let is_offset = (0..=OFFSET_HOURS_MAX).contains(&hours)
        && (0..60).contains(&minutes)
        && (0..60).contains(&seconds);
    if !is_offset {
        return Err(DatetimeError::Displacement);
    }
    if !rest.is_empty() {
        return Err(DatetimeError::Syntax);
    }
    let seconds = i32::try_from((hours * 60 + minutes) * 60 + seconds);
    let seconds = seconds.map_err(|_| DatetimeError::Displacement)?;
    Ok(Zone::Offset(if is_west { -seconds } else { seconds }))
}
