//! Functions and operators on numbers.

pub(crate) mod bits;
pub mod decimals;
mod exact;
pub(crate) mod floats;
pub(crate) mod integers;
mod math;
pub mod rank;
pub(crate) mod root;
mod rounding;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let mut all = rounding::all();
    all.extend(exact::all());
    all.extend(math::all());
    all
}
