//! What can be wrong with a number, in PostgreSQL's words and with its SQLSTATEs.

use std::fmt;

/// Why an operation on numbers has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The result has more digits than a `numeric` can have.
    Overflow,
    /// A quotient or remainder by zero.
    DivisionByZero,
    /// The text, given here, is not a number.
    InvalidText(String),
    /// NaN or an infinity became the named integer type.
    NotFinite {
        /// Whether it is NaN, not an infinity.
        nan: bool,
        /// The name of the type in SQL.
        target: &'static str,
    },
    /// The number is outside of the named integer type.
    OutOfRange(&'static str),
    /// The number, given as text, is too large or too near to zero for the named type.
    OutOfFloatRange {
        /// The number.
        text: String,
        /// The name of the type in SQL.
        target: &'static str,
    },
    /// The rounded number needs more digits than its column has.
    FieldOverflow {
        /// Digits of the column.
        precision: u16,
        /// How many of them are behind the point.
        scale: i16,
        /// Whether the number is an infinity.
        infinite: bool,
    },
    /// The square root of a negative number.
    NegativeRoot,
    /// The logarithm of zero.
    LogOfZero,
    /// The logarithm of a negative number.
    LogOfNegative,
    /// Zero raised to a negative power.
    ZeroToNegative,
    /// A negative number raised to a power that is not an integer.
    NegativeToFraction,
    /// The factorial of a negative number.
    NegativeFactorial,
    /// `width_bucket` with no buckets.
    BucketCount,
    /// `width_bucket` of NaN, or between bounds one of which is NaN.
    BucketNan,
    /// `width_bucket` between bounds one of which is infinite.
    BucketInfinite,
    /// `width_bucket` between equal bounds.
    BucketBoundsEqual,
}

impl Error {
    /// The SQLSTATE that PostgreSQL reports.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            Error::Overflow
            | Error::OutOfRange(_)
            | Error::OutOfFloatRange { .. }
            | Error::FieldOverflow { .. }
            | Error::NegativeFactorial => "22003",
            Error::DivisionByZero => "22012",
            Error::InvalidText(_) => "22P02",
            Error::NotFinite { .. } => "0A000",
            Error::NegativeRoot | Error::ZeroToNegative | Error::NegativeToFraction => "2201F",
            Error::LogOfZero | Error::LogOfNegative => "2201E",
            Error::BucketCount
            | Error::BucketNan
            | Error::BucketInfinite
            | Error::BucketBoundsEqual => "2201G",
        }
    }

    /// PostgreSQL's DETAIL, for errors that have one.
    pub fn detail(&self) -> Option<String> {
        let Error::FieldOverflow { precision, scale, infinite } = self else { return None };
        let field = format!("A field with precision {precision}, scale {scale}");
        if *infinite {
            return Some(format!("{field} cannot hold an infinite value."));
        }
        let bound = match i32::from(*precision) - i32::from(*scale) {
            0 => "1".to_string(),
            digits => format!("10^{digits}"),
        };
        Some(format!("{field} must round to an absolute value less than {bound}."))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Overflow => f.write_str("value overflows numeric format"),
            Error::DivisionByZero => f.write_str("division by zero"),
            Error::InvalidText(text) => {
                write!(f, "invalid input syntax for type numeric: \"{text}\"")
            }
            Error::NotFinite { nan: true, target } => write!(f, "cannot convert NaN to {target}"),
            Error::NotFinite { nan: false, target } => {
                write!(f, "cannot convert infinity to {target}")
            }
            Error::OutOfRange(target) => write!(f, "{target} out of range"),
            Error::OutOfFloatRange { text, target } => {
                write!(f, "\"{text}\" is out of range for type {target}")
            }
            Error::FieldOverflow { .. } => f.write_str("numeric field overflow"),
            Error::NegativeRoot => f.write_str("cannot take square root of a negative number"),
            Error::LogOfZero => f.write_str("cannot take logarithm of zero"),
            Error::LogOfNegative => f.write_str("cannot take logarithm of a negative number"),
            Error::ZeroToNegative => f.write_str("zero raised to a negative power is undefined"),
            Error::NegativeToFraction => f.write_str(
                "a negative number raised to a non-integer power yields a complex result",
            ),
            Error::NegativeFactorial => f.write_str("factorial of a negative number is undefined"),
            Error::BucketCount => f.write_str("count must be greater than zero"),
            Error::BucketNan => f.write_str("operand, lower bound, and upper bound cannot be NaN"),
            Error::BucketInfinite => f.write_str("lower and upper bounds must be finite"),
            Error::BucketBoundsEqual => f.write_str("lower bound cannot equal upper bound"),
        }
    }
}

impl std::error::Error for Error {}

/// Bytes that no number or state is encoded as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes of a number are damaged")
    }
}

impl std::error::Error for Malformed {}

/// Why bytes of a client are no number in PostgreSQL's binary format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireError {
    /// Fewer bytes than the number of digits announces.
    TooShort,
    /// More bytes than the number of digits announces.
    TooLong,
    /// A sign that is none of PostgreSQL's.
    Sign,
    /// A scale above its limit.
    Scale,
    /// A digit that is not below 10000.
    Digit,
    /// More digits before the point than a `numeric` can have.
    Overflow,
}

impl WireError {
    /// The SQLSTATE that PostgreSQL reports.
    pub fn sqlstate(&self) -> &'static str {
        match self {
            WireError::TooShort => "08P01",
            WireError::TooLong | WireError::Sign | WireError::Scale | WireError::Digit => "22P03",
            WireError::Overflow => "22003",
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WireError::TooShort => "insufficient data left in message",
            WireError::TooLong => "incorrect binary data format",
            WireError::Sign => "invalid sign in external \"numeric\" value",
            WireError::Scale => "invalid scale in external \"numeric\" value",
            WireError::Digit => "invalid digit in external \"numeric\" value",
            WireError::Overflow => "value overflows numeric format",
        })
    }
}

impl std::error::Error for WireError {}
