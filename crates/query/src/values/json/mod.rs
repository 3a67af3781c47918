//! JSON as text: what is JSON, what is in it, and `jsonb`'s normal form.
//!
//! A `json` value is the text that was given; a `jsonb` value is text in normal form ([`normal`]): keys are
//! ordered and unique, blanks stand where PostgreSQL writes them, strings and numbers are spelt in one way. So a
//! part of a value of either type is a stretch of its text ([`raw`]), and nothing is built to look into one.
//!
//! Invariant: values of both types have passed [`check::check`]; functions over them do not check again, nest no
//! deeper than [`check::DEPTH_MAX`], and give nothing sensible, but never panic, for other text.
//!
//! Not here: SQL's functions and operators, which are in [`functions::json`](crate::functions).

pub(crate) mod access;
pub(crate) mod change;
pub(crate) mod check;
pub(crate) mod contain;
pub(crate) mod normal;
pub(crate) mod number;
pub(crate) mod order;
pub(crate) mod pretty;
pub(crate) mod raw;
pub(crate) mod string;

use crate::values::error::{Error, SqlState};

/// An error of a function that was given what it does not take.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::InvalidParameterValue, message)
}
