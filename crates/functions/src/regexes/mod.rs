//! The functions and operators of regular expressions and SIMILAR TO.
//!
//! What they mean is in the crate `regexes`.

mod calls;
mod operators;

pub(crate) use calls::{matching_part, similar_part};
pub(crate) use operators::{Operators, functions};

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    calls::all()
}
