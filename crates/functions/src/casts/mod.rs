//! Casts: of columns, of quoted constants, and the functions that change how a cast appears in column names.

pub mod array_operand;
pub mod constants;
pub mod conversion;
pub mod output;

use datafusion::logical_expr::ScalarUDF;

/// The functions of this folder.
pub(crate) fn all() -> Vec<ScalarUDF> {
    vec![array_operand::function(), conversion::undeclared(), conversion::mentioned()]
}
