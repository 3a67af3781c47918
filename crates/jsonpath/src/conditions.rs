//! Conditions of paths, which have three values.

use crate::evaluation::{At, Evaluation, Stop};
use crate::numbers;
use crate::path::{Comparison, Condition, Expr};
use std::cmp::Ordering;
use values::error::Result;
use values::json::raw::Value;
use values::json::string::unescape;

/// The value of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    Unknown,
}

impl Truth {
    fn of(is_true: bool) -> Self {
        if is_true { Self::True } else { Self::False }
    }

    pub(crate) fn is_true(self) -> bool {
        self == Self::True
    }

    /// As a JSON value.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Unknown => "null",
        }
    }
}

/// Compares an item, with another one or not.
type Test<'t> = &'t dyn Fn(&str, &str) -> Result<Truth>;

impl Evaluation<'_> {
    /// The value of a condition. An error of the document makes it unknown.
    pub(crate) fn truth(
        &self,
        condition: &Condition,
        at: At<'_>,
    ) -> std::result::Result<Truth, Stop> {
        Ok(match condition {
            Condition::And(sides) => match self.truth(&sides.0, at)? {
                Truth::False => Truth::False,
                left => match self.truth(&sides.1, at)? {
                    Truth::True => left,
                    right => right,
                },
            },
            Condition::Or(sides) => match self.truth(&sides.0, at)? {
                Truth::True => Truth::True,
                left => match self.truth(&sides.1, at)? {
                    Truth::False => left,
                    right => right,
                },
            },
            Condition::Not(inner) => match self.truth(inner, at)? {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            },
            Condition::IsUnknown(inner) => Truth::of(self.truth(inner, at)? == Truth::Unknown),
            Condition::Exists(expr) => self.exists_in(expr, at)?,
            Condition::Compare(comparison, left, right) => {
                let right = self.known(right, at, true)?;
                let test = |left: &str, right: &str| compared(*comparison, left, right);
                self.any(left, right, at, &test)?
            }
            Condition::StartsWith(left, right) => {
                let right = self.known(right, at, false)?;
                self.any(left, right, at, &starts_with)?
            }
            Condition::Matches(left, pattern) => {
                let test = |item: &str, _: &str| match Value::of(item) {
                    Value::Text(quoted) => Ok(Truth::of(pattern.is_match(&unescape(quoted)?)?)),
                    _ => Ok(Truth::Unknown),
                };
                self.any(left, Some(vec![String::new()]), at, &test)?
            }
        })
    }

    fn exists_in(&self, expr: &Expr, at: At<'_>) -> std::result::Result<Truth, Stop> {
        let mut is_found = false;
        let found = self.expr(expr, at, &mut |_| {
            is_found = true;
            if self.is_lax() { Err(Stop::Enough) } else { Ok(()) }
        });
        match found {
            Ok(()) | Err(Stop::Enough) => Ok(Truth::of(is_found)),
            Err(Stop::Failed(_)) => Ok(Truth::Unknown),
            Err(refused) => Err(refused),
        }
    }

    /// The items of an expression; `None` after an error of the document.
    fn known(
        &self,
        expr: &Expr,
        at: At<'_>,
        opens: bool,
    ) -> std::result::Result<Option<Vec<String>>, Stop> {
        let items = match opens {
            true => self.opened(expr, at),
            false => {
                let mut items = Vec::new();
                let found = self.expr(expr, at, &mut |item| {
                    items.push(item.to_owned());
                    Ok(())
                });
                found.map(|()| items)
            }
        };
        match items {
            Ok(items) => Ok(Some(items)),
            Err(Stop::Failed(_)) => Ok(None),
            Err(refused) => Err(refused),
        }
    }

    /// Whether a test holds for an item of the left side and one of the right. A lax path stops at the first pair for which
    /// it does, a strict one at the first for which it is unknown.
    fn any(
        &self,
        left: &Expr,
        right: Option<Vec<String>>,
        at: At<'_>,
        test: Test<'_>,
    ) -> std::result::Result<Truth, Stop> {
        let Some(left) = self.known(left, at, true)? else { return Ok(Truth::Unknown) };
        let Some(right) = right else { return Ok(Truth::Unknown) };
        let (mut is_found, mut is_unknown) = (false, false);
        for left in &left {
            for right in &right {
                match test(left, right).map_err(Stop::Refused)? {
                    Truth::True if self.is_lax() => return Ok(Truth::True),
                    Truth::Unknown if !self.is_lax() => return Ok(Truth::Unknown),
                    Truth::True => is_found = true,
                    Truth::Unknown => is_unknown = true,
                    Truth::False => {}
                }
            }
        }
        Ok(match (is_found, is_unknown) {
            (true, _) => Truth::True,
            (false, true) => Truth::Unknown,
            (false, false) => Truth::False,
        })
    }
}

fn compared(comparison: Comparison, left: &str, right: &str) -> Result<Truth> {
    let (left, right) = (Value::of(left), Value::of(right));
    let ordering = match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        // null is another value than all others, and neither less nor greater.
        (Value::Null, _) | (_, Value::Null) => {
            return Ok(Truth::of(comparison == Comparison::NotEqual));
        }
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(&right),
        (Value::Number(left), Value::Number(right)) => numbers::compare(left, right),
        (Value::Text(left), Value::Text(right)) => unescape(left)?.cmp(&unescape(right)?),
        _ => return Ok(Truth::Unknown),
    };
    Ok(Truth::of(match comparison {
        Comparison::Equal => ordering.is_eq(),
        Comparison::NotEqual => ordering.is_ne(),
        Comparison::Less => ordering.is_lt(),
        Comparison::LessOrEqual => ordering.is_le(),
        Comparison::Greater => ordering.is_gt(),
        Comparison::GreaterOrEqual => ordering.is_ge(),
    }))
}

fn starts_with(item: &str, initial: &str) -> Result<Truth> {
    match (Value::of(item), Value::of(initial)) {
        (Value::Text(item), Value::Text(initial)) => {
            Ok(Truth::of(unescape(item)?.starts_with(&*unescape(initial)?)))
        }
        _ => Ok(Truth::Unknown),
    }
}
