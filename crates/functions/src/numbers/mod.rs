//! Functions and operators on numbers.

pub(crate) mod bits;
mod buckets;
pub mod common_types;
pub mod decimals;
mod degrees;
pub(crate) mod floats;
pub(crate) mod integers;
mod math;
pub(crate) mod moments;
pub mod open;
pub mod rank;
mod rounding;
pub(crate) mod sums;
pub mod totals;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let mut all = rounding::all();
    all.extend(buckets::all());
    all.extend(math::all());
    all.push(open::set());
    all
}
