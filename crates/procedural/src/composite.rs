//! Rows of composite types, and records, as values of variables.

use crate::host::{StatementHost, Statements};
use crate::value::{Value, base, written};
use datafusion::arrow::array::{Array, ArrayRef, StructArray};
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::ScalarValue;
use lowering::Shape;
use plpgsql::Host;
use std::sync::Arc;
use store::catalog::{Attribute, SqlType};
use values::assign::composite;
use values::error::{Error, Result, SqlState};
use values::style::Style;
use values::types::{name_without_length, of_field};

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

/// The columns of a row that a function returns: if it returned one value, and columns are wanted, the fields of that.
pub(crate) fn columns(row: Vec<Value>, shape: &Shape) -> Vec<Value> {
    match row.as_slice() {
        [only] if shape.is_row && is_row(only) && is_other(only, &shape.columns) => {
            fields(only).unwrap_or_else(|| nulls(&shape.columns))
        }
        [only] if shape.is_row && shape.columns.len() != 1 && only.scalar.is_null() => {
            nulls(&shape.columns)
        }
        _ => row,
    }
}

/// Whether a value is not that of the only column.
fn is_other(value: &Value, columns: &[SqlType]) -> bool {
    !matches!(columns, [only] if *only == value.of)
}

fn nulls(columns: &[SqlType]) -> Vec<Value> {
    let null = |of: &SqlType| {
        let scalar = ScalarValue::try_from(&of.arrow()).unwrap_or(ScalarValue::Null);
        Value { scalar, of: of.clone() }
    };
    columns.iter().map(null).collect()
}

/// Checks that a row that is returned has the types of the attributes.
///
/// # Errors
/// 42804.
fn check(values: &[Value], attributes: &[Attribute]) -> Result<()> {
    let refused = |detail: String| {
        let message = "returned record type does not match expected record type";
        Err(Error::new(SqlState::DatatypeMismatch, message).with_detail(detail))
    };
    let names = values.iter().zip(attributes);
    let names = names.map(|(value, attribute)| {
        [base(&value.of), base(&attribute.sql_type)].map(name_without_length)
    });
    for (number, [given, expected]) in (1..).zip(names) {
        if given != expected {
            return refused(format!(
                "Returned type {given} does not match expected type {expected} in column {number}."
            ));
        }
    }
    match (values.len(), attributes.len()) {
        (given, expected) if given == expected => Ok(()),
        (given, expected) => refused(format!(
            "Number of returned columns ({given}) does not match expected column count ({expected})."
        )),
    }
}

/// What a function returns as a row of a composite type: one value, or the values of the attributes. With `is_strict`, these
/// have their types.
///
/// # Errors
/// A field cannot be converted.
pub(crate) async fn converted<S: Statements>(
    host: &mut StatementHost<S>,
    row: Vec<Value>,
    to: &SqlType,
    is_strict: bool,
) -> Result<ScalarValue> {
    let is_field = |value: &Value| match to.attributes() {
        Some([only]) => value.of == only.sql_type,
        _ => false,
    };
    let values = match row.as_slice() {
        [only] if only.of == *to => return Ok(only.scalar.clone()),
        [only] if is_field(only) => row,
        [only] if is_row(only) => match fields(only) {
            Some(fields) => fields,
            None => return self::row(to, None),
        },
        [only] if only.scalar.is_null() && to.attributes().is_some_and(|all| all.len() != 1) => {
            return self::row(to, None);
        }
        _ => row,
    };
    let attributes = to.attributes().unwrap_or_default();
    if is_strict {
        check(&values, attributes)?;
    }
    let mut fields = Vec::with_capacity(attributes.len());
    for (value, attribute) in values.into_iter().zip(attributes) {
        let value = match value.of == attribute.sql_type || value.scalar.is_null() {
            true => value,
            false => host.convert(value, &written(&attribute.sql_type)).await?,
        };
        fields.push(value.scalar);
    }
    self::row(to, Some(fields))
}
