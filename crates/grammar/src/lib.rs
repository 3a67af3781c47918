//! SQL text to PostgreSQL's parse tree, by PostgreSQL's own parser.
//!
//! [`parse`] reads a script. [`tree`] holds the nodes, which are PostgreSQL's by name and field. Deep trees need a deep
//! stack: [`growing`] runs a function on one that grows.

mod files;
mod parse;
mod stack;
mod syntax_error;

pub use parse::{Script, parse};
pub use stack::growing;
pub use syntax_error::SyntaxError;

/// The nodes of the parse tree.
pub mod tree {
    pub use pg_query::protobuf::*;
    pub use pg_query::{NodeEnum, NodeRef};
}
