//! The values of parts of expressions.

use super::datum::Datum;
use super::operation::order;
use super::{Node, Stop, lists};
use crate::value::Value;
use std::borrow::Cow;
use std::cmp::Ordering;

type Result<T> = std::result::Result<T, Stop>;

impl Node {
    /// The value for variables.
    pub(super) fn datum<'d, 'v: 'd>(
        &'d self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
    ) -> Result<Datum<'d>> {
        Ok(match self {
            Self::Constant(datum) => datum.borrowed(),
            Self::Variable(place, of) => {
                let value = variable(*place).ok_or(Stop::Unknown)?;
                Datum::of(&value.scalar, of).ok_or(Stop::Unknown)?
            }
            Self::Item(place, of, subscript) => {
                let array = variable(*place).ok_or(Stop::Unknown)?;
                match subscript.datum(variable)? {
                    Datum::Integer(at) => {
                        lists::item(&array.scalar, at, of).ok_or(Stop::Unknown)?
                    }
                    _ => Datum::Null,
                }
            }
            Self::Field(place, field, of) => {
                let row = variable(*place).ok_or(Stop::Unknown)?;
                lists::field(&row.scalar, *field, of).ok_or(Stop::Unknown)?
            }
            Self::Length(place, is_cardinality) => {
                let array = variable(*place).ok_or(Stop::Unknown)?;
                lists::length(&array.scalar, *is_cardinality).ok_or(Stop::Unknown)?
            }
            Self::Apply(operation, left, right) => {
                let left = left.datum(variable)?;
                let right = right.datum(variable)?;
                match (&left, &right) {
                    (Datum::Null, _) | (_, Datum::Null) => Datum::Null,
                    (left, right) => operation.apply(left, right)?.ok_or(Stop::Unknown)?,
                }
            }
            Self::Convert(conversion, value) => match value.datum(variable)? {
                Datum::Null => Datum::Null,
                value => conversion.apply(value)?.ok_or(Stop::Unknown)?,
            },
            Self::Call(function, arguments) => {
                let mut given = [Datum::Null, Datum::Null, Datum::Null];
                let mut has_null = false;
                for (place, argument) in given.iter_mut().zip(arguments) {
                    *place = argument.datum(variable)?;
                    has_null |= matches!(place, Datum::Null);
                }
                match has_null {
                    true => Datum::Null,
                    false => function.apply(given)?.ok_or(Stop::Unknown)?,
                }
            }
            Self::Join(parts, bytes) => joined(parts, *bytes, variable)?,
            Self::And(parts) => all(parts, false, variable)?,
            Self::Or(parts) => all(parts, true, variable)?,
            Self::Not(part) => match part.datum(variable)? {
                Datum::Truth(truth) => Datum::Truth(!truth),
                _ => Datum::Null,
            },
            other => other.chosen(variable)?,
        })
    }

    /// The value of a test, or of one of several parts.
    fn chosen<'d, 'v: 'd>(
        &'d self,
        variable: &dyn Fn(usize) -> Option<&'v Value>,
    ) -> Result<Datum<'d>> {
        Ok(match self {
            Self::IsNull(part, wanted) => {
                let is_null = matches!(part.datum(variable)?, Datum::Null);
                Datum::Truth(is_null == *wanted)
            }
            Self::IsTruth(part, truth, wanted) => {
                let given = match part.datum(variable)? {
                    Datum::Truth(truth) => Some(truth),
                    _ => None,
                };
                Datum::Truth((given == *truth) == *wanted)
            }
            Self::IsDistinct(left, right) => {
                Datum::Truth(!same(&left.datum(variable)?, &right.datum(variable)?)?)
            }
            Self::NullIf(left, right) => {
                let left = left.datum(variable)?;
                let right = right.datum(variable)?;
                if same(&left, &right)? { Datum::Null } else { left }
            }
            Self::Case(branches, otherwise) => {
                for (condition, value) in branches {
                    if matches!(condition.datum(variable)?, Datum::Truth(true)) {
                        return value.datum(variable);
                    }
                }
                otherwise.datum(variable)?
            }
            Self::Coalesce(parts) => {
                for part in parts {
                    match part.datum(variable)? {
                        Datum::Null => {}
                        value => return Ok(value),
                    }
                }
                Datum::Null
            }
            Self::Extreme(parts, wanted) => extreme(parts, *wanted, variable)?,
            // The other parts have their values from `datum`.
            _ => return Err(Stop::Unknown),
        })
    }
}

/// Whether two values are the same, of which both may be NULL.
fn same(left: &Datum<'_>, right: &Datum<'_>) -> Result<bool> {
    match (left, right) {
        (Datum::Null, Datum::Null) => Ok(true),
        (Datum::Null, _) | (_, Datum::Null) => Ok(false),
        (left, right) => Ok(order(left, right).ok_or(Stop::Unknown)?.is_eq()),
    }
}

/// OR of conditions, of which one that is `decisive` decides; AND for one that is false.
fn all<'d, 'v: 'd>(
    parts: &'d [Node],
    decisive: bool,
    variable: &dyn Fn(usize) -> Option<&'v Value>,
) -> Result<Datum<'d>> {
    let mut result = Datum::Truth(!decisive);
    for part in parts {
        match part.datum(variable)? {
            Datum::Truth(truth) if truth == decisive => return Ok(Datum::Truth(decisive)),
            Datum::Truth(_) => {}
            _ => result = Datum::Null,
        }
    }
    Ok(result)
}

/// The greatest or the least of some values that are not NULL.
fn extreme<'d, 'v: 'd>(
    parts: &'d [Node],
    wanted: Ordering,
    variable: &dyn Fn(usize) -> Option<&'v Value>,
) -> Result<Datum<'d>> {
    let mut found = Datum::Null;
    for part in parts {
        let value = part.datum(variable)?;
        let is_found = match (&found, &value) {
            (_, Datum::Null) => false,
            (Datum::Null, _) => true,
            (found, value) => order(value, found).ok_or(Stop::Unknown)? == wanted,
        };
        if is_found {
            found = value;
        }
    }
    Ok(found)
}

/// Texts one behind the other; NULL if one is NULL. Those of more than so many bytes are left to the engine.
pub(super) fn joined<'d, 'v: 'd>(
    parts: &'d [Node],
    bytes: usize,
    variable: &dyn Fn(usize) -> Option<&'v Value>,
) -> Result<Datum<'d>> {
    let (mut text, mut is_null) = (String::new(), false);
    for part in parts {
        match part.datum(variable)? {
            Datum::Text(more) if text.is_empty() => text = more.into_owned(),
            Datum::Text(more) => text.push_str(&more),
            Datum::Null => is_null = true,
            _ => return Err(Stop::Unknown),
        }
        if text.len() > bytes {
            return Err(Stop::Unknown);
        }
    }
    Ok(if is_null { Datum::Null } else { Datum::Text(Cow::Owned(text)) })
}
