//! A constant like `'{a,b}'` that is the operand of an operator: an array if the other operand is one, else text.

use super::conversion;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use std::sync::Arc;
use store::catalog::SqlType;
use values::json::check::check;
use values::style::Style;
use values::translate::external;
use values::types;

/// The name of the function.
pub const ARRAY_OPERAND: &str = "array_operand";

/// The function, of a text and the other operand.
pub(super) fn function() -> ScalarUDF {
    let signature = Signature::any(2, Volatility::Immutable);
    ScalarUDF::new_from_impl(ArrayOperand { signature })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayOperand {
    signature: Signature,
}

impl ScalarUDFImpl for ArrayOperand {
    fn name(&self) -> &str {
        ARRAY_OPERAND
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [_, array @ DataType::List(_)] => Ok(array.clone()),
            [text, _] => Ok(text.clone()),
            _ => exec_err!("{ARRAY_OPERAND} takes a text and the other operand"),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<DataType> =
            args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let field = Field::new(ARRAY_OPERAND, self.return_type(&types)?, true);
        // An operand of a JSON value must be JSON.
        let is_json =
            matches!(types::of_field(&args.arg_fields[1]), SqlType::Json | SqlType::Jsonb);
        if let (true, Some(Some(text))) = (is_json, args.scalar_arguments.first()) {
            check(text.try_as_str().flatten().unwrap_or_default()).map_err(external)?;
        }
        let metadata = match types[1] {
            DataType::List(_) => args.arg_fields[1].metadata().clone(),
            _ if is_json => args.arg_fields[1].metadata().clone(),
            _ => args.arg_fields[0].metadata().clone(),
        };
        Ok(Arc::new(field.with_metadata(metadata)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text, _] = &args.args[..] else {
            return exec_err!("{ARRAY_OPERAND} takes a text and the other operand");
        };
        let returns = args.return_type();
        if text.data_type() == *returns {
            return Ok(text.clone());
        }
        let array = types::of_field(&args.arg_fields[1]);
        // A constant is parsed once for all rows.
        let rows = if matches!(text, ColumnarValue::Scalar(_)) { 1 } else { args.number_rows };
        let read = conversion::convert(&text.to_array(rows)?, &array, Style::default())
            .map_err(external)?;
        let read = cast(&read, returns)?;
        match text {
            ColumnarValue::Scalar(_) => {
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&read, 0)?))
            }
            ColumnarValue::Array(_) => Ok(ColumnarValue::Array(read)),
        }
    }
}
