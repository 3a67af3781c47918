//! `clock_timestamp`: the time at which it is called.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::time::{SystemTime, UNIX_EPOCH};
use store::catalog::SqlType;

/// The function.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(Clock { signature: Signature::nullary(Volatility::Volatile) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Clock {
    signature: Signature,
}

impl ScalarUDFImpl for Clock {
    fn name(&self) -> &str {
        "clock_timestamp"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(SqlType::TimestampTz.arrow())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let micros = i64::try_from(since.as_micros()).ok();
        let zone = Some("+00:00".into());
        Ok(ColumnarValue::Scalar(ScalarValue::TimestampMicrosecond(micros, zone)))
    }
}
