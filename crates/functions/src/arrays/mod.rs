//! Functions of arrays, and functions that return arrays.

mod assigned;
mod buckets;
mod dimensions;
mod elements;
mod expand;
mod filled;
pub mod generated;
pub mod items;
pub(crate) mod order;
mod ordered;
pub mod quantified;
pub mod series;

pub(crate) use elements::replacements;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let mut all = elements::all();
    all.extend(dimensions::all());
    all.extend([assigned::function(), buckets::bucket(), filled::function_of_sizes()]);
    all.extend(elements::replacements());
    all.extend(ordered::all());
    all.extend([expand::function(), series::as_array()]);
    all
}
