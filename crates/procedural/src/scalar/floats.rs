//! Operators of double precision numbers.

use super::integers::{Arithmetic, by_zero};
use std::cmp::Ordering;
use values::error::{Error, Result, SqlState};

/// The result of an operator. `None` for the remainder, which there is not.
///
/// # Errors
/// 22003, 22012.
pub(super) fn apply(how: Arithmetic, left: f64, right: f64) -> Result<Option<f64>> {
    let is_finite = left.is_finite() && right.is_finite();
    let result = match how {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide if right == 0.0 && !left.is_nan() => return Err(by_zero()),
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder => return Ok(None),
    };
    let underflows = result == 0.0
        && match how {
            Arithmetic::Multiply => left != 0.0 && right != 0.0,
            Arithmetic::Divide => left != 0.0 && right.is_finite(),
            _ => false,
        };
    match (result.is_infinite() && is_finite, underflows) {
        (true, _) => Err(out_of_range("overflow")),
        (_, true) => Err(out_of_range("underflow")),
        _ => Ok(Some(result)),
    }
}

fn out_of_range(how: &str) -> Error {
    Error::new(SqlState::NumericValueOutOfRange, format!("value out of range: {how}"))
}

/// The order of two numbers: NaN is equal to itself and the greatest.
pub(super) fn order(left: f64, right: f64) -> Ordering {
    match (left.is_nan(), right.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
    }
}
