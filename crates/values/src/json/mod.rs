//! JSON as text: validation, access, changes, and the normal form of `jsonb`.
//!
//! A `json` value is the text as given. A `jsonb` value is text in [`normal`] form: ordered, unique
//! keys, PostgreSQL's blanks, and one spelling of strings and numbers. A part of either is a slice of
//! the text ([`raw`]); no tree is built.
//!
//! Invariant: values of both types have passed [`check::check`]. Other functions do not validate
//! again and recurse at most `check::DEPTH_MAX` levels. For other text their result is
//! unspecified, but they do not panic.
//!
//! SQL's functions and operators on JSON are in the crate `functions`.

pub mod access;
pub mod change;
pub mod check;
pub mod contain;
pub mod normal;
pub mod number;
pub mod order;
pub mod pretty;
pub mod raw;
mod splice;
pub mod string;

use crate::error::{Error, SqlState};

/// An error for an invalid argument of a function (22023).
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::InvalidParameterValue, message)
}
