//! Functions of texts. What is an error, or would be large, is left to the engine.

use super::datum::Datum;
use super::{Node, Stop};
use ::functions::text::letters::{in_lower_case, in_upper_case, of_code};
use ::functions::text::like::is_like;
use std::borrow::Cow;
use std::ops::Range;

/// The most bytes of a text that grows here.
pub(super) const BYTES_MAX: usize = 64 << 20;
/// The most bytes of any text.
pub(super) const VALUE_BYTES_MAX: usize = (1 << 30) - 1;
/// The most characters of a text that is made longer with one fill.
const PADDED_MAX: i64 = 1 << 16;

/// The ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Both,
    Left,
    Right,
}

/// A function of a text.
#[derive(Debug, Clone, Copy)]
pub(super) enum Function {
    Substring,
    Left,
    Right,
    Upper,
    Lower,
    Reverse,
    OfCode,
    Code,
    Replace,
    /// The place of a text in another one, from 1.
    Place,
    Trim(Ends),
    Pad(Ends),
    Repeat,
    StartsWith,
    /// LIKE, or NOT LIKE.
    Like(bool),
}

impl Function {
    /// The function of the system for arguments of these types: `t` for a text, `i` for an integer.
    pub(super) fn of(name: &str, types: &str) -> Option<Self> {
        Some(match (name, types) {
            ("substr" | "substring", "ti" | "tii") => Self::Substring,
            ("left", "ti") => Self::Left,
            ("right", "ti") => Self::Right,
            ("upper", "t") => Self::Upper,
            ("lower", "t") => Self::Lower,
            ("reverse", "t") => Self::Reverse,
            ("chr", "i") => Self::OfCode,
            ("ascii", "t") => Self::Code,
            ("replace", "ttt") => Self::Replace,
            ("strpos" | "position", "tt") => Self::Place,
            ("btrim", "t" | "tt") => Self::Trim(Ends::Both),
            ("ltrim", "t" | "tt") => Self::Trim(Ends::Left),
            ("rtrim", "t" | "tt") => Self::Trim(Ends::Right),
            ("lpad", "ti" | "tit") => Self::Pad(Ends::Left),
            ("rpad", "ti" | "tit") => Self::Pad(Ends::Right),
            ("repeat", "ti") => Self::Repeat,
            ("starts_with", "tt") => Self::StartsWith,
            ("textlike" | "like", "tt") => Self::Like(true),
            ("textnlike" | "notlike", "tt") => Self::Like(false),
            _ => return None,
        })
    }

    /// Whether no result for such arguments is left to the engine.
    pub(super) fn is_certain(self, arguments: &[Node]) -> bool {
        match self {
            Self::Substring => {
                matches!(arguments, [_, _] | [_, _, Node::Constant(Datum::Integer(0..))])
            }
            Self::Replace | Self::Pad(_) | Self::Repeat => false,
            _ => true,
        }
    }

    /// The result for arguments that are not NULL; what is not given is NULL. `None` if it is left to the engine.
    pub(super) fn apply<'d>(self, given: [Datum<'d>; 3]) -> Result<Option<Datum<'d>>, Stop> {
        use Datum::{Integer, Text, Truth};
        Ok(match (self, given) {
            (Self::Substring, [Text(text), Integer(from), length]) => match length {
                Integer(length) => cut(text, |text| substring(text, from, Some(length))),
                _ => cut(text, |text| substring(text, from, None)),
            },
            (Self::Left, [Text(text), Integer(count), _]) => {
                cut(text, |text| Some(0..split(text, count)))
            }
            (Self::Right, [Text(text), Integer(count), _]) => {
                cut(text, |text| Some(last(text, count)..text.len()))
            }
            (Self::Upper, [Text(text), ..]) => made(in_upper_case(&text)),
            (Self::Lower, [Text(text), ..]) => made(in_lower_case(&text)),
            (Self::Reverse, [Text(text), ..]) => made(text.chars().rev().collect()),
            (Self::OfCode, [Integer(code), ..]) => made(of_code(code)?.to_string()),
            (Self::Code, [Text(text), ..]) => {
                Some(Integer(text.chars().next().map_or(0, |first| u32::from(first).into())))
            }
            (Self::Replace, [Text(text), Text(from), Text(to)]) => replaced(text, &from, &to),
            (Self::Place, [Text(text), Text(part), _]) => {
                let place = text.find(&*part).map(|at| text[..at].chars().count() + 1);
                i64::try_from(place.unwrap_or(0)).ok().map(Integer)
            }
            (Self::Trim(ends), [Text(text), set, _]) => match set {
                Text(set) => cut(text, |text| Some(trimmed(text, &set, ends))),
                _ => cut(text, |text| Some(trimmed(text, " ", ends))),
            },
            (Self::Pad(end), [Text(text), Integer(count), fill]) => match fill {
                Text(fill) => padded(text, count, &fill, end),
                _ => padded(text, count, " ", end),
            },
            (Self::Repeat, [Text(text), Integer(count), _]) => {
                let count = usize::try_from(count).unwrap_or(0);
                let fits = text.len().checked_mul(count).is_some_and(|bytes| bytes <= BYTES_MAX);
                fits.then(|| Text(Cow::Owned(text.repeat(count))))
            }
            (Self::StartsWith, [Text(text), Text(start), _]) => {
                Some(Truth(text.starts_with(&*start)))
            }
            (Self::Like(wanted), [Text(text), Text(pattern), _]) => {
                Some(Truth(is_like(&text, &pattern)? == wanted))
            }
            _ => None,
        })
    }
}

fn made(text: String) -> Option<Datum<'static>> {
    Some(Datum::Text(Cow::Owned(text)))
}

/// A part of a text.
fn cut<'d>(
    text: Cow<'d, str>,
    range: impl FnOnce(&str) -> Option<Range<usize>>,
) -> Option<Datum<'d>> {
    let range = range(&text)?;
    Some(Datum::Text(match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(range)?),
        Cow::Owned(text) => Cow::Owned(text.get(range)?.to_owned()),
    }))
}

/// The place behind so many characters of a text, or its end.
fn behind(text: &str, characters: i64) -> usize {
    let characters = usize::try_from(characters).unwrap_or(0);
    match text.as_bytes().get(..characters) {
        Some(bytes) if bytes.is_ascii() => characters,
        _ => text.char_indices().nth(characters).map_or(text.len(), |(place, _)| place),
    }
}

/// The place behind so many characters, counted from the end for less than 0.
fn split(text: &str, characters: i64) -> usize {
    match characters {
        0.. => behind(text, characters),
        ..0 => {
            let count = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
            behind(text, (count + characters).max(0))
        }
    }
}

/// The place before so many characters at the end of a text, or behind so many at its start for less than 0.
fn last(text: &str, characters: i64) -> usize {
    if characters == 0 { text.len() } else { split(text, -characters) }
}

/// `None` for a negative length, which is an error.
fn substring(text: &str, from: i64, length: Option<i64>) -> Option<Range<usize>> {
    let first = from.max(1);
    let start = behind(text, first - 1);
    let end = match length {
        None => text.len(),
        Some(..0) => return None,
        Some(length) => start + behind(&text[start..], (from + length - first).max(0)),
    };
    Some(start..end)
}

fn replaced<'d>(text: Cow<'d, str>, from: &str, to: &str) -> Option<Datum<'d>> {
    if from.is_empty() || !text.contains(from) {
        return Some(Datum::Text(text));
    }
    let bytes = text.len().checked_mul(to.len().max(1))?;
    (bytes <= BYTES_MAX).then(|| Datum::Text(Cow::Owned(text.replace(from, to))))
}

fn trimmed(text: &str, set: &str, ends: Ends) -> Range<usize> {
    let is_of_set = |character: char| set.contains(character);
    let start = match ends {
        Ends::Right => 0,
        _ => text.len() - text.trim_start_matches(is_of_set).len(),
    };
    let rest = &text[start..];
    let length = match ends {
        Ends::Left => rest.len(),
        _ => rest.trim_end_matches(is_of_set).len(),
    };
    start..start + length
}

fn padded<'d>(text: Cow<'d, str>, count: i64, fill: &str, end: Ends) -> Option<Datum<'d>> {
    if count > PADDED_MAX {
        return None;
    }
    let count = usize::try_from(count).unwrap_or(0);
    let missing = count.saturating_sub(text.chars().count());
    if missing == 0 {
        let count = i64::try_from(count).ok()?;
        return cut(text, |text| Some(0..behind(text, count)));
    }
    if fill.is_empty() {
        return Some(Datum::Text(text));
    }
    let filled: String = fill.chars().cycle().take(missing).collect();
    made(match end {
        Ends::Left => filled + &*text,
        _ => text.into_owned() + &filled,
    })
}
