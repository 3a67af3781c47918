//! Numerics that have a scale each ([`values::numbers`]): operators, functions and keys, with PostgreSQL's scales.
//!
//! Decimals with one scale a column go through the engine's arithmetic, where the scale of the result is the same for all
//! rows. These functions are for all others; they take numbers of any type.

mod making;
mod pairs;
mod sets;
mod singles;
mod spread;

use datafusion::logical_expr::ScalarUDF;

pub use making::{KEY, OPENED, WITH_PRECISION, comparable};
pub use sets::SET;
pub(crate) use sets::set;
pub use spread::{AVERAGE, DEVIATIONS, MEAN, SUM};

/// The functions of this folder, which statements cannot call.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let mut all = making::all();
    all.extend(pairs::all());
    all.extend(singles::all());
    all.extend(spread::all());
    all
}
