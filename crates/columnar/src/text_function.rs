//! Functions that return `text` and receive the engine's arguments unchanged.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

type Body = Arc<dyn Fn(&ScalarFunctionArgs) -> Result<ColumnarValue> + Send + Sync>;

/// A function that returns text.
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

/// Defines a function that returns text.
pub fn function(
    name: &'static str,
    signature: Signature,
    body: impl Fn(&ScalarFunctionArgs) -> Result<ColumnarValue> + Send + Sync + 'static,
) -> ScalarUDF {
    ScalarUDF::new_from_impl(TextFunction { name, signature, body: Arc::new(body) })
}
