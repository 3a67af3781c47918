//! values.

pub(crate) mod array_literal;
pub(crate) mod assign;
pub(crate) mod binary;
pub(crate) mod bytes;
pub(crate) mod cells;
pub(crate) mod error;
pub(crate) mod field;
pub(crate) mod input;
pub(crate) mod json;
pub(crate) mod lengths;
pub(crate) mod lines;
pub(crate) mod sql_state;
pub(crate) mod text;
pub(crate) mod translate;
pub(crate) mod types;
