//! Parses SQL text into statements.
//!
//! [`parse()`] splits a script and parses each statement with PostgreSQL's grammar. The result is a list of
//! [`Statement`]s, each with its text, its offset in the script and its [`Body`].

pub mod client_copy;
pub mod connection;
pub mod errors;
pub mod names;
pub mod nesting;
mod parse;
mod reserved;
mod statement;
pub mod statement_kind;
pub mod types;

pub use commands;
pub use names::object_name;
pub use parse::{one, parse};
pub use reserved::{KEYWORDS, RESERVED};
pub use statement::{Body, Statement};
