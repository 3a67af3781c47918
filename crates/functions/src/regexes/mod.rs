//! Regular expressions and SIMILAR TO.
//!
//! PostgreSQL's syntax ([`syntax`]) becomes a tree, and the tree the syntax of the crate `regex` ([`translate`]). Back
//! references and lookaround, which that crate does not know, are matched by backtracking ([`backtrack`]), with a
//! limit. Of the matches at the first place PostgreSQL takes the longest, `regex` the one that its alternatives prefer:
//! [`pattern`] makes up for it.

mod backtrack;
mod calls;
mod flags;
mod operators;
mod pattern;
mod replacement;
mod similar;
mod syntax;
mod translate;

pub(crate) use calls::{matching_part, similar_part};
pub(crate) use operators::{Operators, functions};

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    calls::all()
}
