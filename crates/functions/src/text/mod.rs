//! Functions on text and bytes.

mod binary;
pub mod bytes;
pub(crate) mod concatenation;
mod identifiers;
pub mod like_escapes;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    let mut all = bytes::all();
    all.extend(binary::all());
    all.extend(identifiers::all());
    all
}
