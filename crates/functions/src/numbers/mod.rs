//! Functions and operators on numbers.

pub mod decimals;
pub(crate) mod integers;
mod rounding;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    rounding::all()
}
