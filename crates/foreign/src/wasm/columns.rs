//! Columns in the forms that every implementation of Arrow knows: texts, also of labels and numerics, bytes, lists, structs.

use crate::definition::Definition;
use crate::failure::{no_value, require_no_zero};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use std::sync::Arc;
use store::catalog::{Attribute, SqlType};
use values::assign::{input, labels};
use values::error::Result;
use values::numbers::is_open;
use values::style::Style;

/// A column of arguments as modules know it.
///
/// # Errors
/// Arrow refuses the columns.
pub(super) fn sent(values: &ArrayRef, of: &SqlType) -> Result<ArrayRef> {
    if let SqlType::User(user) = of
        && user.labels().is_some()
    {
        return Ok(cast(&labels::texts(values, user)?, &DataType::Utf8)?);
    }
    match values.data_type() {
        open if is_open(open) => {
            Ok(cast(&input(values, &SqlType::Text, Style::default())?, &DataType::Utf8)?)
        }
        DataType::Utf8View => Ok(cast(values, &DataType::Utf8)?),
        DataType::BinaryView => Ok(cast(values, &DataType::Binary)?),
        DataType::List(_) => items(values, of, sent),
        DataType::Struct(_) => {
            let attributes = of.attributes().unwrap_or_default();
            let rows = values.as_struct();
            let columns = rows.columns().iter().zip(attributes);
            let columns = columns.map(|(column, attribute)| sent(column, &attribute.sql_type));
            with_columns(rows, attributes, columns.collect::<Result<_>>()?)
        }
        _ => Ok(Arc::clone(values)),
    }
}

/// A column of results as the input of a type knows it: rows have all attributes in their order.
///
/// # Errors
/// 22021: a text has a zero byte; 22P02: a row has a field that the type does not have, or a label is a number.
pub(super) fn received(
    definition: &Definition,
    values: &ArrayRef,
    to: &SqlType,
) -> Result<ArrayRef> {
    match values.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            let texts = cast(values, &DataType::Utf8View)?;
            texts.as_string_view().iter().flatten().try_for_each(require_no_zero)?;
            Ok(texts)
        }
        // The numbers of labels are none of modules.
        DataType::Int64 if matches!(to, SqlType::User(user) if user.labels().is_some()) => {
            Err(no_value(definition, to, "a number"))
        }
        DataType::Binary | DataType::LargeBinary => Ok(cast(values, &DataType::BinaryView)?),
        DataType::List(_) => items(values, to, |items, to| received(definition, items, to)),
        DataType::Struct(fields) if let Some(attributes) = to.attributes() => {
            let is_known = |field: &&Arc<Field>| {
                attributes.iter().any(|attribute| attribute.name == *field.name())
            };
            if let Some(unknown) = fields.iter().find(|field| !is_known(field)) {
                let what = format!("a row with \"{}\"", unknown.name());
                return Err(no_value(definition, format!("attribute of {to}"), &what));
            }
            let rows = values.as_struct();
            let column = |of: &Attribute| match rows.column_by_name(&of.name) {
                Some(column) => received(definition, column, &of.sql_type),
                None => Ok(new_null_array(&of.sql_type.arrow(), rows.len())),
            };
            with_columns(rows, attributes, attributes.iter().map(column).collect::<Result<_>>()?)
        }
        _ => Ok(Arc::clone(values)),
    }
}

/// Lists of other items.
fn items(
    values: &ArrayRef,
    of: &SqlType,
    change: impl Fn(&ArrayRef, &SqlType) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let lists = values.as_list::<i32>();
    let item = match of {
        SqlType::Array(item) => &**item,
        of => of,
    };
    let items = change(lists.values(), item)?;
    let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    let (offsets, nulls) = (lists.offsets().clone(), lists.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(field, offsets, items, nulls)?))
}

/// Rows of columns for the attributes of a type.
fn with_columns(
    rows: &StructArray,
    attributes: &[Attribute],
    columns: Vec<ArrayRef>,
) -> Result<ArrayRef> {
    let fields = attributes.iter().zip(&columns);
    let fields: Fields = fields
        .map(|(attribute, column)| Field::new(&attribute.name, column.data_type().clone(), true))
        .collect();
    let nulls = rows.nulls().cloned();
    Ok(Arc::new(StructArray::try_new_with_length(fields, columns, nulls, rows.len())?))
}
