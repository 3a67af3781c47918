//! Values with their texts, as clients get those whose texts do not follow from what holds them.
//!
//! The types of the values are fixed: the optimizer may replace them by NULLs of no type.

use super::conversion::convert;
use columnar::function;
use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::shown;
use values::style::Style;

/// An object id and its name.
pub const SHOWN_ID: &str = "shown_id";
/// An array of object ids and that of their names.
pub const SHOWN_IDS: &str = "shown_ids";
/// An `int2vector` and its text.
pub const SHOWN_INT2VECTOR: &str = "shown_int2vector";
/// An `oidvector` and its text.
pub const SHOWN_OIDVECTOR: &str = "shown_oidvector";

const TEXT: DataType = DataType::Utf8View;

/// The functions of a value and of its text, or of an array whose text is the value's.
pub(crate) fn all() -> [ScalarUDF; 4] {
    [
        function(SHOWN_ID, |_| types(DataType::Int64, TEXT), with_texts),
        function(SHOWN_IDS, |_| types(list(DataType::Int64), list(TEXT)), with_texts),
        function(SHOWN_INT2VECTOR, |_| types(list(DataType::Int16), TEXT), with_texts),
        function(SHOWN_OIDVECTOR, |_| types(list(DataType::Int64), TEXT), with_texts),
    ]
}

fn list(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// The types of the arguments and of the result.
fn types(value: DataType, text: DataType) -> Result<(Vec<DataType>, DataType)> {
    let shown = shown::arrow(&value);
    Ok((vec![value, text], shown))
}

fn with_texts(arguments: &[ArrayRef]) -> Result<ArrayRef> {
    let texts = convert(&arguments[1], &SqlType::Text, Style::default())?;
    shown::with_texts(&arguments[0], texts.as_string_view().clone())
}
