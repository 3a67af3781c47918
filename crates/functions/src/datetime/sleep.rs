//! `pg_sleep`: waits without blocking a thread. Cancelling the statement ends it.

use async_trait::async_trait;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use std::time::Duration;

/// The function.
pub(super) fn function() -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Volatile);
    AsyncScalarUDF::new(Arc::new(Sleep { signature })).into_scalar_udf()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Sleep {
    signature: Signature,
}

impl ScalarUDFImpl for Sleep {
    fn name(&self) -> &str {
        "pg_sleep"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// `void`, which is empty text for clients.
    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        internal_err!("pg_sleep must be called asynchronously")
    }
}

#[async_trait]
impl AsyncScalarUDFImpl for Sleep {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        for argument in &args.args {
            let seconds = cast(&argument.to_array(args.number_rows)?, &DataType::Float64)?;
            for seconds in seconds.as_primitive::<Float64Type>().iter().flatten() {
                // Negative, infinite and NaN durations are zero.
                let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                tokio::time::sleep(time).await;
            }
        }
        let void = ScalarValue::Utf8View(Some(String::new()));
        Ok(ColumnarValue::Array(void.to_array_of_size(args.number_rows)?))
    }
}
