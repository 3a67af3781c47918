//! COPY between a table and the client: `COPY t FROM STDIN` and `COPY ... TO STDOUT`, in PostgreSQL's three formats.

mod assembler;
mod binary;
mod csv;
mod input;
mod options;
mod output;
mod parse;
mod rows_of_text;
mod rows_of_values;
mod text;

pub(crate) use assembler::Assembler;
pub use input::CopyIn;
pub(crate) use input::{Loaded, Piece, evicted};
pub use output::CopyOut;

pub(crate) use options::Options;
pub(crate) use parse::parse;

use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query};

/// A COPY whose other end is the client.
#[derive(Debug, Clone)]
pub(crate) struct ClientCopy {
    pub(crate) what: What,
    pub(crate) options: Options,
}

/// What is copied, and in which direction.
#[derive(Debug, Clone)]
pub(crate) enum What {
    /// From the client into a table.
    In { table: ObjectName, columns: Vec<Ident> },
    /// From a query to the client.
    Out { query: Box<Query> },
    /// From a table to the client.
    OutOf { table: ObjectName, columns: Vec<Ident> },
}
