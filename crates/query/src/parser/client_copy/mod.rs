//! COPY between a table and the client: `COPY t FROM STDIN` and `COPY ... TO STDOUT`.

mod options;
mod parse;

pub(crate) use options::{Form, Header, Options};
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
