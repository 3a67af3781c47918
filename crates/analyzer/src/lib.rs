//! From SQL text to typed trees, as PostgreSQL's parser and analysis make them.
//!
//! [`bind`] takes a statement of PostgreSQL's parse tree, resolves its names ([`Catalog`]), operators and functions
//! ([`system`]), and writes out every conversion. The result is a [`tree`].

mod error;
pub mod system;
pub mod tree;

pub use error::{Error, Result};
