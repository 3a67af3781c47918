//! Patterns of numbers: their fields, and what these say together.

use super::pattern::{self, Letters, Part, Parts};
use values::error::{Error, Result, SqlState};

/// A field of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digit {
    Nine,
    Zero,
    Point,
    Comma,
    Group,
    Currency,
    Minus,
    Plus,
    Sign,
    Ordinal(Letters),
    Roman(Letters),
    /// Fields that act on the whole: `B`, `C`, `FM`, `S`, `PR`, `SP`, `V`, `EEEE`.
    Whole(Whole),
}

/// A field that acts on the whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Blank,
    Fill,
    AnchoredSign,
    Brackets,
    Shift,
    Scientific,
    Nothing,
}

/// Where `S` writes the sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Before,
    After,
}

/// A pattern with what its fields say together.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub(super) parts: Parts<Digit>,
    /// Digits before the point, after it, and behind `V`.
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) shifted: usize,
    /// The first digit that is written as 0, from 0, and the end of those.
    pub(super) zeros_from: Option<usize>,
    pub(super) zeros_to: usize,
    pub(super) anchor: Option<Anchor>,
    /// Digits before the anchored sign.
    pub(super) before_anchor: usize,
    pub(super) has_point: bool,
    pub(super) fills: bool,
    pub(super) has_brackets: bool,
    pub(super) has_minus: bool,
    pub(super) has_plus: bool,
    pub(super) is_roman: bool,
    pub(super) is_scientific: bool,
    pub(super) is_shifted: bool,
    is_blank: bool,
}

/// The fields' names; a name stands before its beginnings.
const NAMES: [(&str, &str, Digit); 20] = [
    (",", ",", Digit::Comma),
    (".", ".", Digit::Point),
    ("0", "0", Digit::Zero),
    ("9", "9", Digit::Nine),
    ("B", "b", Digit::Whole(Whole::Blank)),
    ("C", "c", Digit::Whole(Whole::Nothing)),
    ("D", "d", Digit::Point),
    ("EEEE", "eeee", Digit::Whole(Whole::Scientific)),
    ("FM", "fm", Digit::Whole(Whole::Fill)),
    ("G", "g", Digit::Group),
    ("L", "l", Digit::Currency),
    ("MI", "mi", Digit::Minus),
    ("PL", "pl", Digit::Plus),
    ("PR", "pr", Digit::Whole(Whole::Brackets)),
    ("RN", "rn", Digit::Roman(Letters::Upper)),
    ("SG", "sg", Digit::Sign),
    ("SP", "sp", Digit::Whole(Whole::Nothing)),
    ("S", "s", Digit::Whole(Whole::AnchoredSign)),
    ("TH", "th", Digit::Ordinal(Letters::Upper)),
    ("V", "v", Digit::Whole(Whole::Shift)),
];

fn find(text: &str) -> Option<(Digit, usize)> {
    NAMES.iter().find_map(|&(upper, lower, digit)| {
        if text.starts_with(upper) {
            return Some((digit, upper.len()));
        }
        let lower_case = match digit {
            Digit::Ordinal(_) => Digit::Ordinal(Letters::Lower),
            Digit::Roman(_) => Digit::Roman(Letters::Lower),
            other => other,
        };
        text.starts_with(lower).then_some((lower_case, lower.len()))
    })
}

/// Cuts a pattern.
///
/// # Errors
/// 42601: fields that exclude each other.
pub(super) fn parse(text: &str) -> Result<Pattern> {
    let mut pattern = Pattern {
        parts: pattern::parse(text, false, find),
        before: 0,
        after: 0,
        shifted: 0,
        zeros_from: None,
        zeros_to: 0,
        anchor: None,
        before_anchor: 0,
        has_point: false,
        fills: false,
        has_brackets: false,
        has_minus: false,
        has_plus: false,
        is_roman: false,
        is_scientific: false,
        is_shifted: false,
        is_blank: false,
    };
    for (part, _) in pattern.parts.clone() {
        if let Part::Field(digit, _) = part {
            pattern.add(digit)?;
        }
    }
    Ok(pattern)
}

fn refuse(condition: bool, message: &str) -> Result<()> {
    if condition { Err(Error::new(SqlState::SyntaxError, message)) } else { Ok(()) }
}

impl Pattern {
    fn add(&mut self, digit: Digit) -> Result<()> {
        let is_scientific = digit == Digit::Whole(Whole::Scientific);
        refuse(self.is_scientific && !is_scientific, "\"EEEE\" must be the last pattern used")?;
        let is_anchored = self.anchor.is_some();
        match digit {
            Digit::Nine => {
                refuse(self.has_brackets, "\"9\" must be ahead of \"PR\"")?;
                if self.is_shifted {
                    self.shifted += 1;
                } else {
                    self.count();
                }
            }
            Digit::Zero => {
                refuse(self.has_brackets, "\"0\" must be ahead of \"PR\"")?;
                if !self.has_point && self.zeros_from.is_none() {
                    self.zeros_from = Some(self.before);
                }
                self.count();
                self.zeros_to = self.before + self.after;
            }
            Digit::Point => {
                refuse(self.has_point, "multiple decimal points")?;
                refuse(self.is_shifted, "cannot use \"V\" and decimal point together")?;
                self.has_point = true;
            }
            Digit::Minus => {
                refuse(is_anchored, "cannot use \"S\" and \"MI\" together")?;
                self.has_minus = true;
            }
            Digit::Plus => {
                refuse(is_anchored, "cannot use \"S\" and \"PL\" together")?;
                self.has_plus = true;
            }
            Digit::Sign => {
                refuse(is_anchored, "cannot use \"S\" and \"SG\" together")?;
                (self.has_minus, self.has_plus) = (true, true);
            }
            Digit::Roman(_) => self.is_roman = true,
            Digit::Whole(whole) => return self.add_whole(whole),
            Digit::Comma | Digit::Group | Digit::Currency | Digit::Ordinal(_) => (),
        }
        Ok(())
    }

    fn count(&mut self) {
        if self.has_point {
            self.after += 1;
        } else {
            self.before += 1;
        }
    }

    fn add_whole(&mut self, whole: Whole) -> Result<()> {
        let (is_anchored, has_sign) = (self.anchor.is_some(), self.has_plus || self.has_minus);
        match whole {
            Whole::Blank => {
                self.is_blank |= self.before + self.after == 0 && self.zeros_from.is_none();
            }
            Whole::Fill => self.fills = true,
            Whole::AnchoredSign => {
                refuse(is_anchored, "cannot use \"S\" twice")?;
                let message = "cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together";
                refuse(has_sign || self.has_brackets, message)?;
                self.anchor = Some(if self.has_point { Anchor::After } else { Anchor::Before });
                self.before_anchor = self.before;
            }
            Whole::Brackets => {
                let message = "cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together";
                refuse(is_anchored || has_sign, message)?;
                self.has_brackets = true;
            }
            Whole::Shift => {
                refuse(self.has_point, "cannot use \"V\" and decimal point together")?;
                self.is_shifted = true;
            }
            Whole::Scientific => {
                refuse(self.is_scientific, "cannot use \"EEEE\" twice")?;
                let others = self.is_blank || self.fills || is_anchored || self.has_brackets;
                if others || has_sign || self.is_roman || self.is_shifted {
                    let message = "\"EEEE\" is incompatible with other formats";
                    let detail =
                        "\"EEEE\" may only be used together with digit and decimal point patterns.";
                    return Err(Error::new(SqlState::SyntaxError, message).with_detail(detail));
                }
                self.is_scientific = true;
            }
            Whole::Nothing => (),
        }
        Ok(())
    }
}
