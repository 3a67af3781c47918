//! Parses SQL text into statements.
//!
//! [`parse()`] splits a script and parses each statement with the SQL parser, extended by the
//! grammar that it lacks: COPY with the client, roles and privileges, cursors, ALTER SYSTEM. The
//! result is a list of [`Statement`]s, each with its text, its offset in the script and its
//! [`Body`].

pub mod alter_system;
pub mod chains;
pub mod client_copy;
pub mod connection;
pub mod cursors;
mod dialect;
mod json_parameters;
pub mod names;
pub mod nesting;
mod parse;
pub mod placeholders;
mod redact;
mod reserved;
pub mod roles;
mod row_stars;
mod select_into;
mod sequence_options;
mod stack;
mod statement;
pub mod statement_kind;
mod syntax_error;
pub mod walk;

pub use parse::{object_name, one, parse, parse_expression, parse_sql, tokens};
pub use reserved::RESERVED;
pub use row_stars::ALL_FIELDS;
pub use statement::{Body, Statement};
