//! Functions about the session and the server: version, database, types, random UUIDs.

use crate::text_function::function;
use datafusion::arrow::array::{ArrayRef, StringViewArray};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Signature, Volatility};
use std::sync::Arc;
use values::types;

fn text(value: impl Into<String>) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::Utf8View(Some(value.into())))
}

/// The functions.
pub(super) fn all() -> Vec<ScalarUDF> {
    let nullary = || Signature::nullary(Volatility::Stable);
    let any = || Signature::any(1, Volatility::Stable);
    let version = concat!("PostgreSQL 15.0 (Pando ", env!("CARGO_PKG_VERSION"), ")");
    vec![
        function("version", nullary(), move |_| Ok(text(version))),
        function("current_database", nullary(), |_| Ok(text("pando"))),
        function("current_catalog", nullary(), |_| Ok(text("pando"))),
        function("pg_typeof", any(), |args| {
            Ok(text(types::name_without_length(&types::of_field(&args.arg_fields[0]))))
        }),
        function("gen_random_uuid", Signature::nullary(Volatility::Volatile), |args| {
            let uuids = (0..args.number_rows).map(|_| uuid::Uuid::new_v4().to_string());
            let uuids: ArrayRef = Arc::new(StringViewArray::from_iter_values(uuids));
            Ok(ColumnarValue::Array(uuids))
        }),
    ]
}
