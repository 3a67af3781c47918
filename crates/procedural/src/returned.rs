//! What functions return as rows of composite types, or as the columns of such rows.

use crate::composite::{fields, is_row, row};
use crate::host::StatementHost;
use crate::statements::Statements;
use crate::value::{Value, base, written};
use datafusion::common::ScalarValue;
use lowering::Shape;
use plpgsql::Host;
use store::catalog::{Attribute, SqlType};
use system_catalog::Oid;
use values::error::{Error, Result, SqlState};
use values::types::{BPCHAR, name_without_length};

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

/// A value that a function returns, as one of its column. That holds values of the type with which it is declared.
///
/// # Errors
/// It cannot be converted.
pub(crate) async fn column<S: Statements>(
    host: &mut StatementHost<S>,
    value: Value,
    of: &SqlType,
    declared: Option<Oid>,
) -> Result<ScalarValue> {
    let is_char = declared == Some(Oid::BPCHAR);
    // A domain may refuse NULL.
    let is_domain = of.user_type().is_some_and(|user| user.domain().is_some());
    let is_kept = value.scalar.is_null() && !is_domain || is_char && value.of == BPCHAR;
    if is_kept || value.of == *of {
        return Ok(value.scalar);
    }
    let to = if is_char { written(&BPCHAR) } else { written(of) };
    Ok(host.convert(value, &to).await?.scalar)
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
    given: Vec<Value>,
    to: &SqlType,
    is_strict: bool,
) -> Result<ScalarValue> {
    let is_field = |value: &Value| match to.attributes() {
        Some([only]) => value.of == only.sql_type,
        _ => false,
    };
    let values = match given.as_slice() {
        [only] if only.of == *to => return Ok(only.scalar.clone()),
        [only] if is_field(only) => given,
        [only] if is_row(only) => match fields(only) {
            Some(fields) => fields,
            None => return row(to, None),
        },
        [only] if only.scalar.is_null() && to.attributes().is_some_and(|all| all.len() != 1) => {
            return row(to, None);
        }
        _ => given,
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
    row(to, Some(fields))
}
