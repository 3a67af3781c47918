//! Values of domains, which fulfil conditions.

use columnar::{Types, hidden};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The functions.
pub(crate) fn all() -> [ScalarUDF; 2] {
    let checked: Types = |types| match types {
        [value, ..] => {
            let text = || DataType::Utf8View;
            Ok((vec![value.clone(), DataType::Boolean, text(), text()], value.clone()))
        }
        [] => Err(Error::unsupported("domain_check takes four arguments")),
    };
    let present: Types = |types| match types {
        [value, ..] => Ok((vec![value.clone(), DataType::Utf8View], value.clone())),
        [] => Err(Error::unsupported("domain_not_null takes two arguments")),
    };
    [hidden("domain_check", checked, fulfilled), hidden("domain_not_null", present, not_null)]
}

/// The first argument, if the second is not false.
fn fulfilled(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (conditions, names) = (args[1].as_boolean(), (text(&args[2])?, text(&args[3])?));
    let Some(row) = conditions.iter().position(|value| value == Some(false)) else {
        return Ok(Arc::clone(&args[0]));
    };
    let name = |names: &ArrayRef| {
        let names = names.as_string_view();
        if names.is_valid(row) { names.value(row).to_owned() } else { String::new() }
    };
    let (domain, check) = (name(&names.0), name(&names.1));
    let message = format!("value for domain {domain} violates check constraint \"{check}\"");
    Err(Error::new(SqlState::CheckViolation, message).of_constraint(&check))
}

/// The first argument, if no value is NULL.
fn not_null(args: &[ArrayRef]) -> Result<ArrayRef> {
    let (value, names) = (&args[0], text(&args[1])?);
    let has_null = value.data_type().is_null() || value.logical_null_count() > 0;
    if !has_null || value.is_empty() {
        return Ok(Arc::clone(value));
    }
    let names = names.as_string_view();
    let domain = if names.is_empty() { "" } else { names.value(0) };
    let message = format!("domain {domain} does not allow null values");
    Err(Error::new(SqlState::NotNullViolation, message))
}

fn text(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(cast(array, &DataType::Utf8View)?)
}
