//! Values whose texts do not follow from what holds them: names of objects, whose ids are held, and vectors, whose items have
//! blanks between them.
//!
//! Clients get both: a struct of the value, which has the binary format, and of its text. No other struct has these fields.

use crate::error::Result;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::ScalarValue;
use std::sync::Arc;

/// The name of the field that has the value.
const SENT: &str = "?sent";
/// The name of the field that has the text.
const TEXT: &str = "?text";

fn fields(sent: &DataType) -> Fields {
    let field = |name, data_type| Field::new(name, data_type, true);
    vec![field(SENT, sent.clone()), field(TEXT, DataType::Utf8View)].into()
}

/// The Arrow type of values of another Arrow type with their texts.
pub fn arrow(sent: &DataType) -> DataType {
    DataType::Struct(fields(sent))
}

/// Values with their texts.
///
/// # Errors
/// The arrays have different lengths.
pub fn with_texts(sent: &ArrayRef, texts: StringViewArray) -> Result<ArrayRef> {
    let nulls = sent.logical_nulls();
    let columns: Vec<ArrayRef> = vec![Arc::clone(sent), Arc::new(texts)];
    Ok(Arc::new(StructArray::try_new(fields(sent.data_type()), columns, nulls)?))
}

/// The values and the texts of an array of both; `None` for other arrays.
pub(crate) fn parts(array: &dyn Array) -> Option<(&ArrayRef, &ArrayRef)> {
    let both = array.as_struct_opt()?;
    Some((both.column_by_name(SENT)?, both.column_by_name(TEXT)?))
}

/// Whether an array has values with their texts.
pub(crate) fn has_texts(array: &ArrayRef) -> bool {
    parts(array).is_some()
}

/// The values of an array of values with their texts; other arrays as they are.
pub fn sent(array: &ArrayRef) -> ArrayRef {
    Arc::clone(parts(array).map_or(array, |(sent, _)| sent))
}

/// The texts of an array of values with their texts; other arrays as they are.
pub fn texts(array: &ArrayRef) -> ArrayRef {
    Arc::clone(parts(array).map_or(array, |(_, texts)| texts))
}

/// The value of one with its text; another value as it is.
///
/// # Errors
/// Errors of the engine.
pub fn scalar(value: ScalarValue) -> Result<ScalarValue> {
    if let ScalarValue::Struct(both) = &value
        && let Some((sent, _)) = parts(&**both)
    {
        return Ok(ScalarValue::try_from_array(sent, 0)?);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::Int64Array;

    #[test]
    fn both_forms_can_be_taken_apart() {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1259), None]));
        let names = StringViewArray::from(vec![Some("pg_class"), None]);
        let both = with_texts(&ids, names.clone()).expect("of the same length");
        assert_eq!(both.data_type(), &arrow(&DataType::Int64));
        assert!(both.is_null(1));
        assert_eq!(&sent(&both), &ids);
        assert_eq!(texts(&both).as_string_view(), &names);
        assert_eq!(&sent(&ids), &ids);
    }
}
