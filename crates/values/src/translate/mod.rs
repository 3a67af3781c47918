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
pub use failure::to_store_error;
pub use files::of_file;
pub use unmatched::function as undefined_function;

use crate::error::Error;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::DataFusionError;

/// PostgreSQL's name of an Arrow type. `Utf8`, the type of quoted constants, is `unknown`.
pub fn type_name(data_type: &DataType) -> String {
    type_names::of(&data_type.to_string())
}

/// Wraps an error for a function that returns the engine's errors.
pub fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
