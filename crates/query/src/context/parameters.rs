//! Values of parameters.

use datafusion::common::ScalarValue;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::style::Style;
use values::types::CHAR;

/// The value of a parameter of some type, from the text that a client sent, which is read in the session's style.
///
/// # Errors
/// 22P02, 22003, 22007 and others: the text is no value of the type.
pub fn parameter_of_text(text: &str, sql_type: &SqlType, style: Style) -> Result<ScalarValue> {
    use datafusion::arrow::array::{ArrayRef, StringViewArray};
    if let (SqlType::Numeric { .. }, Some(number)) = (sql_type, values::numbers::of_text(text)) {
        return Ok(number);
    }
    if *sql_type == CHAR {
        return Ok(ScalarValue::Utf8View(Some(text.chars().take(1).collect())));
    }
    let array: ArrayRef = Arc::new(StringViewArray::from_iter_values([text]));
    let array = values::assign::input(&array, sql_type, style)?;
    Ok(ScalarValue::try_from_array(&array, 0)?)
}
