//! PostgreSQL's `numeric`: numbers of any length, each with a scale of its own.
//!
//! A [`Numeric`] is digits with a display scale, NaN or an infinity: `1.50` and `1.5` are equal, and print as they were
//! written. The scales of results, and their digits, are those of PostgreSQL 15. Numbers whose digits fit 128 bits are
//! kept without allocation; all others are big integers. [`Totals`] is the state of `sum`, `avg`, variances and
//! deviations.
//!
//! Invariant: at most [`INTEGER_DIGITS_MAX`] digits before the point and [`SCALE_MAX`] behind it; what would have more
//! is [`Error::Overflow`], so that no operation works on more.
//!
//! Not here: Arrow's arrays and SQL's functions over them (`values`, `functions`); `to_char` and `to_number`.

mod accumulator;
mod arithmetic;
mod comparison;
mod digits;
mod division;
mod encoding;
mod errors;
mod exponential;
mod factors;
mod floats;
mod histogram;
mod integers;
mod logarithm;
mod number;
mod power;
mod power_of_integer;
mod powers_of_ten;
mod precision;
mod roots;
mod rounding;
mod text;
mod totals;
mod totals_bytes;
mod wire;
mod working;

pub use errors::{Error, Malformed, WireError};
pub use number::{INTEGER_DIGITS_MAX, Numeric, SCALE_MAX};
pub use totals::Totals;
