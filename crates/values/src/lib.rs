//! SQL types, and values as PostgreSQL reads and writes them: text, binary, JSON; and errors with SQLSTATEs.
//!
//! - [`types`]: SQL types in Arrow's schemas. [`cells`]: single values of system tables and functions.
//! - [`input`] reads values from text, [`assign`] makes values of one type values of a column's type.
//! - [`text`] and [`binary`] write values as clients want them. [`json`] is JSON as text.
//! - [`error`] is the error of everything above the store; [`translate`] makes one of the engine's errors.

pub mod assign;
pub mod binary;
pub mod byte_size;
pub mod cells;
pub mod error;
pub mod field;
pub mod input;
pub mod json;
pub mod lines;
pub mod style;
pub mod text;
pub mod translate;
pub mod types;

pub use error::{Error, Result, SqlState};
