//! Values of composite types, from literals and from rows with other types of their fields.

use super::input as of_type;
use super::{Excess, fit};
use crate::error::{Error, Result, SqlState};
use crate::input::record;
use crate::style::Style;
use crate::translate::type_name;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, StringViewArray, StructArray, new_null_array,
};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Fields};
use std::sync::Arc;
use store::catalog::{Attribute, SqlType};

/// Converts texts and rows to a composite type. Each field has to fit the type of its attribute.
///
/// # Errors
/// 22P02: malformed literal. 42846: there is no cast. 0A000: an attribute is of a domain with conditions.
pub(super) fn input(
    array: &ArrayRef,
    sql_type: &SqlType,
    attributes: &[Attribute],
    style: Style,
) -> Result<ArrayRef> {
    let to = sql_type.arrow();
    let DataType::Struct(fields) = &to else { return Ok(Arc::clone(array)) };
    if *array.data_type() == to {
        return Ok(Arc::clone(array));
    }
    match array.data_type() {
        DataType::Null => Ok(new_null_array(&to, array.len())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            refuse_domains(attributes)?;
            of_texts(&cast(array, &DataType::Utf8View)?, attributes, fields, style)
        }
        DataType::Struct(given) if given.len() == attributes.len() => {
            let rows = array.as_struct();
            let columns = rows.columns().to_vec();
            of_columns(columns, attributes, fields, (rows.nulls().cloned(), rows.len()), style)
        }
        other => {
            let message = format!("cannot cast type {} to {sql_type}", type_name(other));
            Err(Error::new(SqlState::CannotCoerce, message))
        }
    }
}

/// Rows of a composite type from the columns of its attributes; NULL where `nulls` says so.
///
/// # Errors
/// A value does not fit the type of its attribute.
pub fn composite(
    sql_type: &SqlType,
    columns: Vec<ArrayRef>,
    nulls: (Option<NullBuffer>, usize),
    style: Style,
) -> Result<ArrayRef> {
    match sql_type.arrow() {
        DataType::Struct(fields) => {
            let attributes = sql_type.attributes().unwrap_or_default();
            of_columns(columns, attributes, &fields, nulls, style)
        }
        other => Err(Error::unsupported(format!("a row of type {other} is not supported"))),
    }
}

fn of_columns(
    columns: Vec<ArrayRef>,
    attributes: &[Attribute],
    fields: &Fields,
    (nulls, count): (Option<NullBuffer>, usize),
    style: Style,
) -> Result<ArrayRef> {
    let mut fitted = Vec::with_capacity(columns.len());
    for (column, attribute) in columns.into_iter().zip(attributes) {
        let column = of_type(&column, &attribute.sql_type, style)?;
        fitted.push(fit(column, &attribute.sql_type, Excess::Refuse)?);
    }
    Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), fitted, nulls, count)?))
}

fn of_texts(
    texts: &ArrayRef,
    attributes: &[Attribute],
    fields: &Fields,
    style: Style,
) -> Result<ArrayRef> {
    let mut columns = vec![Vec::with_capacity(texts.len()); attributes.len()];
    for text in texts.as_string_view() {
        let values = match text {
            Some(text) => record::fields(text, attributes.len())?,
            None => vec![None; attributes.len()],
        };
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let array = |column| Arc::new(StringViewArray::from_iter(column)) as ArrayRef;
    let columns: Vec<ArrayRef> = columns.into_iter().map(array).collect();
    of_columns(columns, attributes, fields, (texts.nulls().cloned(), texts.len()), style)
}

/// Refuses texts of fields whose conditions nobody would check.
fn refuse_domains(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|attribute| has_conditions(&attribute.sql_type)) {
        Some(attribute) => {
            let name = &attribute.name;
            let what = "a text as a row with a field of a domain";
            Err(Error::unsupported(format!("{what} such as \"{name}\" is not supported")))
        }
        None => Ok(()),
    }
}

/// Whether a type is a domain with conditions.
fn has_conditions(sql_type: &SqlType) -> bool {
    let SqlType::User(user) = sql_type else { return false };
    user.domain().is_some_and(|domain| {
        !domain.nullable || !domain.checks.is_empty() || has_conditions(&domain.base)
    })
}
