//! Functions that return arrays.

mod expand;
pub mod generated;
pub mod series;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    vec![expand::function(), series::as_array()]
}
