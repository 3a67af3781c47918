//! Casts: of columns, of quoted constants, and the function that hides the declared length of a value. Values as texts
//! and in binary format.

pub mod constants;
pub mod conversion;
pub mod labels;
pub mod lengths;
pub mod output;
pub(crate) mod sent;
pub mod shown;
pub mod system;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    vec![conversion::undeclared(), lengths::within()]
}
