//! Operators of two values.

use super::Stop;
use super::datum::Datum;
use super::integers::{Arithmetic, Size};
use super::moments::Calendar;
use super::{floats, numbers};
use std::cmp::Ordering;

/// An operator of two values.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    /// Of integers, with a result of a size.
    Integers(Arithmetic, Size),
    /// Of other numbers.
    Numbers(Arithmetic),
    /// A comparison.
    Compare(Comparison),
    /// One of a date or a timestamp.
    Calendar(Calendar),
    /// `round` of a decimal number to some digits.
    Round,
}

/// A comparison.
#[derive(Debug, Clone, Copy)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    pub(super) fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Operation {
    /// The operator of a function of the system.
    pub(super) fn of(name: &str, result: Option<Size>) -> Option<Self> {
        if let Some(calendar) = Calendar::of(name) {
            return Some(Self::Calendar(calendar));
        }
        if name == "round" {
            return Some(Self::Round);
        }
        let is_of = |prefixes: &[&str]| {
            prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).filter(|rest| {
                // `int84div` begins with `int8`, too.
                !rest.starts_with(|letter: char| letter.is_ascii_digit())
            })
        };
        let integers =
            ["int24", "int28", "int42", "int48", "int82", "int84", "int2", "int4", "int8"];
        let compares =
            ["float8", "numeric_", "text_", "text", "bool", "date_", "timestamp_", "timestamptz_"];
        if let Some(rest) = is_of(&integers) {
            return match (arithmetic(rest), result) {
                (Some(how), Some(size)) => Some(Self::Integers(how, size)),
                _ => comparison(rest).map(Self::Compare),
            };
        }
        if let Some(how) = is_of(&["float8"]).and_then(arithmetic) {
            return Some(Self::Numbers(how));
        }
        let how = match name {
            "numeric_add" => Some(Arithmetic::Add),
            "numeric_sub" => Some(Arithmetic::Subtract),
            "numeric_mul" => Some(Arithmetic::Multiply),
            "numeric_div" => Some(Arithmetic::Divide),
            "numeric_mod" => Some(Arithmetic::Remainder),
            "mod" => match result {
                Some(size) => return Some(Self::Integers(Arithmetic::Remainder, size)),
                None => Some(Arithmetic::Remainder),
            },
            _ => None,
        };
        how.map(Self::Numbers).or_else(|| is_of(&compares).and_then(comparison).map(Self::Compare))
    }

    /// The result for two values that are not NULL. `None` if they are of other types.
    pub(super) fn apply(
        self,
        left: &Datum<'_>,
        right: &Datum<'_>,
    ) -> Result<Option<Datum<'static>>, Stop> {
        use Datum::{Double, Integer, Number, Truth};
        Ok(Some(match (self, left, right) {
            (Self::Integers(how, size), Integer(left), Integer(right)) => {
                Integer(how.apply(*left, *right, size)?)
            }
            (Self::Numbers(how), Double(left), Double(right)) => {
                match floats::apply(how, *left, *right)? {
                    Some(result) => Double(result),
                    None => return Ok(None),
                }
            }
            (Self::Numbers(how), Number(left, of_left), Number(right, of_right)) => {
                match numbers::apply(how, (*left, *of_left), (*right, *of_right)) {
                    Some((digits, scale)) => Number(digits, scale),
                    None => return Ok(None),
                }
            }
            (Self::Round, Number(digits, scale), Integer(places)) => {
                match numbers::rounded((*digits, *scale), *places) {
                    Some((digits, scale)) => Number(digits, scale),
                    None => return Ok(None),
                }
            }
            (Self::Compare(how), left, right) => {
                return Ok(order(left, right).map(|order| Truth(how.holds(order))));
            }
            (Self::Calendar(calendar), left, right) => return Ok(calendar.apply(left, right)),
            _ => return Ok(None),
        }))
    }

    /// Whether its result is a number, a truth value or a date, if the values are.
    pub(super) fn is_of_registers(self) -> bool {
        match self {
            Self::Integers(..) | Self::Numbers(_) | Self::Compare(_) => true,
            Self::Calendar(calendar) => calendar.is_of_days(),
            Self::Round => false,
        }
    }

    /// Whether it is `=`.
    pub(super) fn is_equality(self) -> bool {
        matches!(self, Self::Compare(Comparison::Equal))
    }
}

/// The order of two values of one type. `None` for other values.
pub(super) fn order(left: &Datum<'_>, right: &Datum<'_>) -> Option<Ordering> {
    use Datum::{Double, Integer, Number, Text, Truth};
    Some(match (left, right) {
        (Integer(left), Integer(right)) => left.cmp(right),
        (Double(left), Double(right)) => floats::order(*left, *right),
        (Text(left), Text(right)) => left.cmp(right),
        (Truth(left), Truth(right)) => left.cmp(right),
        (Number(left, of_left), Number(right, of_right)) => {
            return numbers::order((*left, *of_left), (*right, *of_right));
        }
        _ => return None,
    })
}

fn arithmetic(name: &str) -> Option<Arithmetic> {
    Some(match name {
        "pl" => Arithmetic::Add,
        "mi" => Arithmetic::Subtract,
        "mul" => Arithmetic::Multiply,
        "div" => Arithmetic::Divide,
        "mod" => Arithmetic::Remainder,
        _ => return None,
    })
}

fn comparison(name: &str) -> Option<Comparison> {
    Some(match name {
        "eq" => Comparison::Equal,
        "ne" => Comparison::Unequal,
        "lt" => Comparison::Less,
        "le" => Comparison::LessOrEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}
