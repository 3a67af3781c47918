//! The sort order of `jsonb`: a function that returns sort keys.

use datafusion::arrow::array::{ArrayRef, AsArray, BinaryArray, ListArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use store::catalog::SqlType;
use values::json::normal::normal;
use values::json::order;
use values::translate::external;
use values::types;

const NAME: &str = "jsonb_order";

/// The function.
pub(super) fn function() -> ScalarUDF {
    ScalarUDF::new_from_impl(Order { signature: Signature::any(1, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Order {
    signature: Signature,
}

impl ScalarUDFImpl for Order {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match types {
            [DataType::List(_)] => DataType::new_list(DataType::Binary, true),
            _ => DataType::Binary,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_jsonb = types::of_field(&args.arg_fields[0]) == SqlType::Jsonb;
        let scalar = matches!(args.args[0], ColumnarValue::Scalar(_));
        let values = args.args[0].to_array(if scalar { 1 } else { args.number_rows })?;
        let places = places(&values, is_jsonb)?;
        if scalar {
            Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&places, 0)?))
        } else {
            Ok(ColumnarValue::Array(places))
        }
    }
}

/// The places of documents in their order; those of the items of arrays as arrays.
fn places(values: &ArrayRef, is_jsonb: bool) -> Result<ArrayRef> {
    if let Some(lists) = values.as_list_opt::<i32>() {
        let (_, offsets, items, nulls) = lists.clone().into_parts();
        let field = Arc::new(Field::new_list_field(DataType::Binary, true));
        let items = places(&items, is_jsonb)?;
        return Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?));
    }
    let place = |text: Option<&str>| -> values::error::Result<Option<Vec<u8>>> {
        let Some(text) = text else { return Ok(None) };
        if is_jsonb { order::key(text).map(Some) } else { order::key(&normal(text)?).map(Some) }
    };
    let texts = cast(values, &DataType::Utf8View)?;
    let places = texts.as_string_view().iter().map(place);
    let places = places.collect::<values::error::Result<Vec<_>>>().map_err(external)?;
    Ok(Arc::new(places.into_iter().collect::<BinaryArray>()))
}
