//! Operators of integers.

use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};

/// The size of an integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Small,
    Usual,
    Big,
}

impl Size {
    /// The size of an integer type. `None` of others.
    pub(super) fn of(of: &SqlType) -> Option<Self> {
        Some(match of {
            SqlType::SmallInt => Self::Small,
            SqlType::Integer => Self::Usual,
            SqlType::BigInt => Self::Big,
            _ => return None,
        })
    }

    /// A number, if it is in the range of the type.
    ///
    /// # Errors
    /// 22003.
    pub(super) fn checked(self, number: Option<i64>) -> Result<i64> {
        let (name, fits) = match self {
            Self::Small => ("smallint", number.is_some_and(|n| i16::try_from(n).is_ok())),
            Self::Usual => ("integer", number.is_some_and(|n| i32::try_from(n).is_ok())),
            Self::Big => ("bigint", number.is_some()),
        };
        match (number, fits) {
            (Some(number), true) => Ok(number),
            _ => {
                let message = format!("{name} out of range");
                Err(Error::new(SqlState::NumericValueOutOfRange, message))
            }
        }
    }
}

/// An operator with an integer as its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The error for a division by zero.
pub(super) fn by_zero() -> Error {
    Error::new(SqlState::DivisionByZero, "division by zero")
}

impl Arithmetic {
    /// The result, of a type of a size.
    ///
    /// # Errors
    /// 22003, 22012.
    pub(super) fn apply(self, left: i64, right: i64, size: Size) -> Result<i64> {
        size.checked(match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide | Self::Remainder if right == 0 => return Err(by_zero()),
            Self::Divide => left.checked_div(right),
            Self::Remainder => Some(left.checked_rem(right).unwrap_or(0)),
        })
    }
}
