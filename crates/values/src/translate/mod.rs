//! Conversion of errors of the engine and the store to [`Error`].
//!
//! `storage` and `engine` convert typed errors. `message` translates the engine's untyped messages:
//! `casts`, `unmatched` and `range` parse them, `rules` is a table of patterns.

mod casts;
mod columns;
mod engine;
mod failure;
mod files;
mod message;
mod range;
mod rules;
mod storage;
mod type_names;
mod unmatched;

pub use casts::refused as refused_text;
pub use columns::undefined_column;
pub use failure::to_store_error;
pub use files::of_file;
pub use unmatched::{
    argument as wrong_argument, function as undefined_function, operator as undefined_operator,
};

use crate::error::Error;
use crate::lines::Lines;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::DataFusionError;
use datafusion::sql::sqlparser::tokenizer::Location;

/// PostgreSQL's name of an Arrow type. `Utf8`, the type of quoted constants, is `unknown`.
pub fn type_name(data_type: &DataType) -> String {
    type_names::of(&data_type.to_string())
}

/// Wraps an error for a function that returns the engine's errors.
pub fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// An error of planning, with the error position that the engine's diagnostic names.
pub fn with_position(error: DataFusionError, text: &str) -> Error {
    let span = error.diagnostic().and_then(|diagnostic| diagnostic.span);
    let translated = Error::from(error);
    match span {
        Some(span) if translated.position().is_none() => {
            let location = Location { line: span.start.line, column: span.start.column };
            translated.at(Lines::new(text).character(location) + 1)
        }
        _ => translated,
    }
}
