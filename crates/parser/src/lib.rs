//! Parses SQL text into statements.
//!
//! [`parse()`] splits a script and parses each statement with PostgreSQL's grammar. The result is a list of
//! [`Statement`]s, each with its text, its offset in the script and its [`Body`]. The SQL parser reads queries and changes of
//! rows again where the engine's own planner needs its tree ([`Statement::ast`]).

pub mod chains;
pub mod client_copy;
pub mod connection;
mod dialect;
pub mod errors;
mod inner_text;
mod json_parameters;
pub mod names;
pub mod nesting;
mod parse;
pub mod placeholders;
mod reserved;
mod row_stars;
mod sql;
mod stack;
mod statement;
pub mod statement_kind;
mod syntax_error;
pub mod types;
pub mod walk;

pub use commands;
pub use parse::{one, parse};
pub use reserved::RESERVED;
pub use row_stars::ALL_FIELDS;
pub use sql::{object_name, parse_expression, parse_sql, tokens};
pub use statement::{Body, Statement};
