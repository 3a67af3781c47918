//! The formats of COPY between a table and a client: text, csv and binary.
//!
//! Readers cut received bytes into rows ([`text::Reader`], [`csv::Reader`], [`binary::Reader`]), which are collected into
//! batches ([`RowsOfText`], [`RowsOfValues`]). Writers append one value to a row. Not here: the conversion of texts to the
//! types of columns.

pub mod binary;
pub mod csv;
mod rows_of_text;
mod rows_of_values;
pub mod text;

pub use rows_of_text::{BATCH_ROWS, RowsOfText};
pub use rows_of_values::RowsOfValues;
