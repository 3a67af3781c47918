//! The labels of an enum's values.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use store::catalog::UserType;
use values::assign::labels::{texts, texts_type};
use values::translate::external;

#[derive(Debug, PartialEq, Eq, Hash)]
struct Labels {
    of: Arc<UserType>,
    signature: Signature,
}

/// The function that returns the label of a number, or those of an array.
pub fn of(user: &Arc<UserType>) -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    ScalarUDF::new_from_impl(Labels { of: Arc::clone(user), signature })
}

impl ScalarUDFImpl for Labels {
    fn name(&self) -> &str {
        "enum_out"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> datafusion::common::Result<DataType> {
        match types {
            [of] => Ok(texts_type(of, &self.of)),
            _ => exec_err!("enum_out takes one argument"),
        }
    }

    fn invoke_with_args(
        &self,
        args: ScalarFunctionArgs,
    ) -> datafusion::common::Result<ColumnarValue> {
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [array] = &arrays[..] else { return exec_err!("enum_out takes one argument") };
        let labels = texts(array, &self.of).map_err(external)?;
        if constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&labels, 0)?));
        }
        Ok(ColumnarValue::Array(labels))
    }
}
