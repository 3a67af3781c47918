//! Small functions: who and where a session is, what version this is, random uuids.

use crate::values::types;
use datafusion::arrow::array::{ArrayRef, StringViewArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

type Body = Arc<dyn Fn(&ScalarFunctionArgs) -> Result<ColumnarValue> + Send + Sync>;

/// A function that gives text.
struct TextFunction {
    name: &'static str,
    signature: Signature,
    body: Body,
}

impl std::fmt::Debug for TextFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for TextFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.body, &other.body)
    }
}

impl Eq for TextFunction {}

impl Hash for TextFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for TextFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        (self.body)(&args)
    }
}

/// A function that gives text.
pub(crate) fn function(
    name: &'static str,
    signature: Signature,
    body: impl Fn(&ScalarFunctionArgs) -> Result<ColumnarValue> + Send + Sync + 'static,
) -> ScalarUDF {
    ScalarUDF::new_from_impl(TextFunction { name, signature, body: Arc::new(body) })
}

fn text(value: impl Into<String>) -> ColumnarValue {
    ColumnarValue::Scalar(ScalarValue::Utf8View(Some(value.into())))
}

/// What is the same for every session.
pub(crate) fn all() -> Vec<ScalarUDF> {
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
