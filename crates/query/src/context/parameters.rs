//! Values of parameters.

use datafusion::common::ScalarValue;
use std::sync::Arc;
use store::catalog::{SqlType, SystemType};
use values::error::Result;
use values::style::Style;

/// The value of a parameter of some type, from the text that a client sent, which is read in the session's style.
///
/// # Errors
/// 22P02, 22003, 22007 and others: the text is no value of the type.
pub fn parameter_of_text(text: &str, sql_type: &SqlType, style: Style) -> Result<ScalarValue> {
    use datafusion::arrow::array::{ArrayRef, StringViewArray};
    if let (SqlType::Numeric { .. }, Some(number)) = (sql_type, values::numbers::of_text(text)) {
        return Ok(number);
    }
    if sql_type.system_type().is_some_and(SystemType::is_named_id) {
        // The catalog knows the names.
        return Ok(ScalarValue::Utf8View(Some(text.to_owned())));
    }
    let array: ArrayRef = Arc::new(StringViewArray::from_iter_values([text]));
    let array = values::assign::input(&array, sql_type, style)?;
    Ok(ScalarValue::try_from_array(&array, 0)?)
}
