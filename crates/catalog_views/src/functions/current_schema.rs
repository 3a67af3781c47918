//! `current_schema`: the first schema of the search path that exists.

use crate::search_path::SearchPath;
use crate::session_context::SessionContext;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Signature, Volatility};
use functions::text_function::function;
use std::sync::Arc;

/// The function.
pub(super) fn all(session: &Arc<dyn SessionContext>) -> Vec<ScalarUDF> {
    let session = Arc::clone(session);
    vec![function("current_schema", Signature::nullary(Volatility::Stable), move |_| {
        let named = session.search_path();
        let path = SearchPath::new(&named, session.temporary_schema());
        let existing = path.existing(&session.catalog(), false);
        let schema = existing.first().map(|schema| (*schema).to_owned());
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8View(schema)))
    })]
}
