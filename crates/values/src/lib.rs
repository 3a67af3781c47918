//! SQL types, values in PostgreSQL's text, binary and JSON forms, and errors with SQLSTATEs.
//!
//! - [`types`]: SQL types of statements, Arrow fields and expressions. [`field`]: result columns.
//! - [`input`] parses text. [`assign`] converts columns to the type of a table's column.
//! - [`text`] and [`binary`] write the forms that clients read, [`style`] holds the settings that
//!   change them, [`zone`] the time zones. [`json`] works on the text of JSON values,
//!   [`precision`] rounds times, [`moments`] knows the ranges of dates and timestamps, [`numbers`] reads and makes columns of exact numbers.
//! - [`nested_arrays`]: arrays of several dimensions. [`cells`]: values of system tables and of functions that compute one row
//!   at a time. [`shown`]: values with texts that do not follow from them.
//! - [`error`] is the error of all crates above the store. [`translate`] converts errors of the
//!   engine and of the store.

pub mod assign;
pub mod binary;
pub mod cells;
pub mod error;
pub mod field;
pub mod input;
pub mod json;
pub mod nested_arrays;
pub mod numbers;
pub mod precision;
pub mod shown;
pub mod style;
pub mod text;
pub mod translate;
pub mod types;

use datetimes::calendar;
pub use datetimes::{fields, moments, zone};

pub use error::{Error, Result, SqlState};
