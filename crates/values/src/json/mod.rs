//! JSON as text: what is JSON, what is in it, and `jsonb`'s normal form.
//!
//! A `json` value is the text that was given; a `jsonb` value is text in normal form ([`normal`]): keys are
//! ordered and unique, blanks stand where PostgreSQL writes them, strings and numbers are spelt in one way. So a
//! part of a value of either type is a stretch of its text ([`raw`]), and nothing is built to look into one.
//!
//! Invariant: values of both types have passed [`check::check`]; functions over them do not check again, nest no
//! deeper than [`check::DEPTH_MAX`], and give nothing sensible, but never panic, for other text.
//!
//! Not here: SQL's functions and operators, which are in [`functions::json`](functions).

pub mod access;
pub mod change;
pub mod check;
pub mod contain;
pub mod normal;
pub mod number;
pub mod order;
pub mod pretty;
pub mod raw;
pub mod string;

use crate::error::{Error, SqlState};

/// An error of a function that was given what it does not take.
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(SqlState::InvalidParameterValue, message)
}
