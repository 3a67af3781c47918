//! Casts of quoted constants, evaluated when the statement is planned.

use super::conversion;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::metadata::FieldMetadata;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::Cast;
use store::catalog::SqlType;
use values::error::{Error, SqlState};
use values::style::Style;
use values::translate::external;
use values::types;

/// The value of a cast of a quoted constant, in a style; `None` for other casts and for casts to text.
///
/// # Errors
/// The text is no value of the type.
pub fn fold(cast: &Cast, style: Style) -> Result<Option<Expr>> {
    let Expr::Literal(value, None) = &*cast.expr else { return Ok(None) };
    let sql_type = types::of_field(&cast.field);
    let Some(Some(_)) = value.try_as_str() else { return Ok(None) };
    if matches!(sql_type, SqlType::Text | SqlType::Other(_)) {
        return Ok(None);
    }
    let value = value_of(value, &sql_type, style)?.cast_to(cast.field.data_type())?;
    let metadata = cast.field.metadata();
    let metadata = (!metadata.is_empty()).then(|| FieldMetadata::from(metadata.clone()));
    Ok(Some(Expr::Literal(value, metadata)))
}

/// Converts a quoted constant to a type, in a style.
///
/// # Errors
/// The text is no value of the type.
pub fn value_of(text: &ScalarValue, sql_type: &SqlType, style: Style) -> Result<ScalarValue> {
    let array = text.cast_to(&DataType::Utf8View)?.to_array()?;
    let array = conversion::convert(&array, sql_type, style).map_err(|error| {
        external(match text.try_as_str() {
            Some(Some(text)) if is_about_syntax(&error) => error.at_literal(text),
            _ => error,
        })
    })?;
    ScalarValue::try_from_array(&array, 0)
}

/// Whether an error is about the syntax of a constant, and not about its range or length.
fn is_about_syntax(error: &Error) -> bool {
    let limits = [SqlState::NumericValueOutOfRange, SqlState::StringDataRightTruncation];
    error.message().contains('"') || !limits.contains(&error.state())
}
