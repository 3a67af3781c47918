//! Rows of composite types, and records, as values of variables.

use crate::value::{Value, written};
use datafusion::arrow::array::{Array, ArrayRef, StructArray};
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::ScalarValue;
use std::sync::Arc;
use store::catalog::SqlType;
use values::assign::composite;
use values::error::Result;
use values::style::Style;
use values::types::of_field;

/// The names and types of the attributes of a composite type.
pub(crate) fn attributes(of: &SqlType) -> Option<Arc<[(String, String)]>> {
    let attributes = of.attributes()?.iter();
    Some(attributes.map(|known| (known.name.clone(), written(&known.sql_type))).collect())
}

/// Whether a value is a row, or NULL of a type of rows.
pub(crate) fn is_row(value: &Value) -> bool {
    value.of.attributes().is_some() || matches!(value.scalar, ScalarValue::Struct(_))
}

/// The fields of a row that is not NULL.
pub(crate) fn fields(value: &Value) -> Option<Vec<Value>> {
    let ScalarValue::Struct(row) = &value.scalar else { return None };
    if row.is_null(0) {
        return None;
    }
    fields_of(row, &value.of)
}

fn fields_of(row: &StructArray, of: &SqlType) -> Option<Vec<Value>> {
    let attributes = of.attributes().unwrap_or_default();
    let columns = row.fields().iter().zip(row.columns()).enumerate();
    let field = |(at, (field, column)): (usize, (&FieldRef, &ArrayRef))| {
        let of = match attributes.get(at) {
            Some(attribute) => attribute.sql_type.clone(),
            None => of_field(field),
        };
        Value::at(column, 0, &of).ok()
    };
    columns.map(field).collect()
}

/// A row of a composite type from the values of its attributes, of which those that are missing are NULL; NULL without.
///
/// # Errors
/// A value does not fit.
pub(crate) fn row(of: &SqlType, fields: Option<Vec<ScalarValue>>) -> Result<ScalarValue> {
    let Some(fields) = fields else { return Ok(ScalarValue::try_from(&of.arrow())?) };
    let attributes = of.attributes().unwrap_or_default();
    let mut columns = Vec::with_capacity(attributes.len());
    let mut given = fields.into_iter();
    for attribute in attributes {
        let value = match given.next() {
            Some(value) if !value.is_null() => value,
            _ => ScalarValue::try_from(&attribute.sql_type.arrow())?,
        };
        columns.push(value.to_array()?);
    }
    let rows = composite(of, columns, (None, 1), Style::default())?;
    Ok(ScalarValue::try_from_array(&rows, 0)?)
}
