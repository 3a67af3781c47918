//! SQL text to PostgreSQL's parse tree, by PostgreSQL's own parser.
//!
//! [`parse`] reads a script, [`split`] divides one. [`statement_text`] and [`expression_text`] are the way back. [`tree`] holds the nodes, which are PostgreSQL's by name and field. Deep trees need a deep
//! stack: [`growing`] runs a function on one that grows.

mod collated;
mod column_name;
mod deparse;
mod files;
mod grouped;
mod nesting;
pub mod numbers;
mod parse;
mod references;
mod select_into;
mod split;
mod stack;
mod syntax_error;
pub mod updatable;
pub mod words;
pub mod written;

pub use collated::has_other_collation;
pub use column_name::column_name;
pub use deparse::{expression_text, greatest_parameter, statement_text};
pub use grouped::grouped_by;
pub use parse::{Script, parse};
pub use references::{
    ColumnReference, ExpressionPart, RelationReference, calls, columns, parts, relations,
    relations_and_ctes, rename_column, sequences, string_location, types, with_column_names,
    with_schemas, with_type_schemas,
};
pub use split::{solid, split};
pub use stack::{growing, with_room};
pub use syntax_error::SyntaxError;

/// The nodes of the parse tree.
pub mod tree {
    pub use pg_query::protobuf::*;
    pub use pg_query::{NodeEnum, NodeRef};
}
