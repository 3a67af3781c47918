//! JSON functions of PostgreSQL that are not supported.

use super::ARGUMENTS_MAX;
use crate::row_function::typed_function;
use datafusion::logical_expr::ScalarUDF;
use store::catalog::SqlType;
use values::error::Error;

/// Functions, and the reason why they are not supported.
const REFUSED: [(&[&str], &str); 2] = [
    (
        &[
            "json_populate_record",
            "json_populate_recordset",
            "json_to_record",
            "json_to_recordset",
            "jsonb_populate_record",
            "jsonb_populate_recordset",
            "jsonb_to_record",
            "jsonb_to_recordset",
        ],
        "column definition lists are not implemented",
    ),
    (
        &["json_each", "json_each_text", "jsonb_each", "jsonb_each_text"],
        "it is only allowed in FROM",
    ),
];

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let refused = |name: &'static str, why: &'static str| {
        typed_function(name, 1..=ARGUMENTS_MAX, SqlType::Jsonb, move |_| {
            Err(Error::unsupported(format!("function {name} is not supported here: {why}")))
        })
    };
    let functions =
        REFUSED.into_iter().flat_map(|(names, why)| names.iter().map(move |n| (*n, why)));
    functions.map(|(name, why)| refused(name, why)).collect()
}
