//! COPY with the client: `COPY t FROM STDIN` and `COPY ... TO STDOUT`.

mod options;
mod parse;

pub use options::{Form, Given, Header, Options};
pub(crate) use parse::parse;

use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query};

/// COPY FROM STDIN or COPY TO STDOUT.
#[derive(Debug, Clone)]
pub struct ClientCopy {
    /// What is copied, and in which direction.
    pub what: What,
    /// The options, with defaults filled in.
    pub options: Options,
}

/// What is copied, and in which direction.
#[derive(Debug, Clone)]
pub enum What {
    /// From the client into a table.
    In {
        /// The table.
        table: ObjectName,
        /// The listed columns; empty for all.
        columns: Vec<Ident>,
    },
    /// From a query to the client.
    Out {
        /// The query.
        query: Box<Query>,
    },
    /// From a table to the client.
    OutOf {
        /// The table.
        table: ObjectName,
        /// The listed columns; empty for all.
        columns: Vec<Ident>,
    },
}
