//! PostgreSQL's formats of COPY, for clients and for files: text, csv and binary.
//!
//! A [`RowReader`] cuts bytes into rows and collects them into batches. A [`RowWriter`] writes batches as rows. Not here: the
//! conversion of texts to the types of columns.

mod binary;
mod csv;
mod row_reader;
mod row_writer;
mod rows_of_text;
mod rows_of_values;
mod text;

pub use row_reader::RowReader;
pub use row_writer::RowWriter;
