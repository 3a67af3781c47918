//! Labels of enums, and the numbers that represent them.

use crate::error::{Error, Result, SqlState};
use crate::translate::type_name;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, ListArray, StringViewArray, StringViewBuilder,
    StructArray, new_null_array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::{Attribute, EnumLabel, SqlType, UserType};

/// The numbers of labels. Numbers stay as they are.
///
/// # Errors
/// 22P02 for texts that are no labels; 42846 for values that are no texts.
pub fn numbers(values: &ArrayRef, user: &UserType) -> Result<ArrayRef> {
    if let Some(lists) = values.as_list_opt::<i32>() {
        let items = numbers(lists.values(), user)?;
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        let nulls = lists.nulls().cloned();
        return Ok(Arc::new(ListArray::try_new(field, lists.offsets().clone(), items, nulls)?));
    }
    if let Some(attributes) = user.attributes() {
        return fields(values, attributes, &user_arrow(user), numbers);
    }
    if let Some(base) = user.domain().and_then(|domain| domain.base.user_type()) {
        return numbers(values, base);
    }
    match values.data_type() {
        DataType::Int64 => return Ok(Arc::clone(values)),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => {}
        other => {
            let message = format!("cannot cast type {} to {}", type_name(other), user.name);
            return Err(Error::new(SqlState::CannotCoerce, message));
        }
    }
    let texts = cast(values, &DataType::Utf8View)?;
    let number = |text: Option<&str>| text.map(|text| number_of(text, user)).transpose();
    let numbers = texts.as_string_view().iter().map(number);
    Ok(Arc::new(numbers.collect::<Result<Int64Array>>()?))
}

fn number_of(text: &str, user: &UserType) -> Result<i64> {
    let labels = user.labels().unwrap_or_default();
    let Some(label) = labels.iter().find(|label| label.name == text) else {
        let message = format!("invalid input value for enum {}: \"{text}\"", shown(&user.name));
        return Err(Error::new(SqlState::InvalidTextRepresentation, message));
    };
    refuse_new(label, user)?;
    Ok(label.order)
}

/// Refuses a label that the open transaction has added.
///
/// # Errors
/// 55P04.
pub fn refuse_new(label: &EnumLabel, user: &UserType) -> Result<()> {
    if !label.is_new {
        return Ok(());
    }
    let (label, name) = (&label.name, shown(&user.name));
    let message = format!("unsafe use of new value \"{label}\" of enum type {name}");
    Err(Error::new(SqlState::UnsafeNewEnumValueUsage, message)
        .with_hint("New enum values must be committed before they can be used."))
}

/// A name of a type as messages have it: in quotes if it is not written without them.
fn shown(name: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let mut letters = name.chars();
    let is_bare = letters.next().is_some_and(is_plain)
        && letters.all(|letter| is_plain(letter) || letter.is_ascii_digit());
    match is_bare {
        true => name.into(),
        false => format!("\"{}\"", name.replace('"', "\"\"")).into(),
    }
}

/// The Arrow type of the values of a type.
fn user_arrow(user: &UserType) -> DataType {
    SqlType::User(Arc::new(user.clone())).arrow()
}

/// The Arrow type of the values of a type with their labels.
fn sent_arrow(user: &UserType) -> DataType {
    SqlType::User(Arc::new(user.clone())).sent().arrow()
}

/// Rows of a type in which the fields with labels are changed.
fn fields(
    values: &ArrayRef,
    attributes: &[Attribute],
    to: &DataType,
    change: fn(&ArrayRef, &UserType) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let (Some(rows), DataType::Struct(fields)) = (values.as_struct_opt(), to) else {
        return Ok(new_null_array(to, values.len()));
    };
    if rows.data_type() == to {
        return Ok(Arc::clone(values));
    }
    let columns = rows.columns().iter().zip(attributes);
    let columns = columns.map(|(column, attribute)| match attribute.sql_type.user_type() {
        Some(user) if user.has_labels() => change(column, user),
        _ => Ok(Arc::clone(column)),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let nulls = rows.nulls().cloned();
    let rows = StructArray::try_new_with_length(fields.clone(), columns, nulls, rows.len())?;
    Ok(Arc::new(rows))
}

/// The labels of numbers, also within arrays and rows.
///
/// # Errors
/// XX000 for a number without a label, which a type that was changed meanwhile may leave.
pub fn texts(values: &ArrayRef, user: &UserType) -> Result<ArrayRef> {
    if let Some(lists) = values.as_list_opt::<i32>() {
        let items = texts(lists.values(), user)?;
        let field = Arc::new(Field::new_list_field(items.data_type().clone(), true));
        let nulls = lists.nulls().cloned();
        return Ok(Arc::new(ListArray::try_new(field, lists.offsets().clone(), items, nulls)?));
    }
    if let Some(attributes) = user.attributes() {
        return fields(values, attributes, &sent_arrow(user), texts);
    }
    if let Some(base) = user.domain().and_then(|domain| domain.base.user_type()) {
        return texts(values, base);
    }
    if values.data_type().is_null() {
        return Ok(Arc::new(StringViewArray::new_null(values.len())));
    }
    let numbers = cast(values, &DataType::Int64)?;
    let mut labels = StringViewBuilder::with_capacity(values.len());
    for number in numbers.as_primitive::<Int64Type>() {
        labels.append_option(number.map(|number| label_of(number, user)).transpose()?);
    }
    Ok(Arc::new(labels.finish()))
}

fn label_of(number: i64, user: &UserType) -> Result<&str> {
    user.label_of(number).ok_or_else(|| {
        let message = format!("invalid internal value for enum {}: {number}", user.name);
        Error::new(SqlState::InternalError, message)
    })
}

/// Values as messages show them: those of enums by their labels.
pub fn shown_values(values: &ArrayRef, sql_type: &SqlType) -> ArrayRef {
    let user = sql_type.user_type().filter(|user| user.has_labels());
    let labels = user.and_then(|user| texts(values, user).ok());
    labels.unwrap_or_else(|| Arc::clone(values))
}

/// The Arrow type of values with their labels: of a user's type, or of arrays of it as `of` is one.
pub fn texts_type(of: &DataType, user: &UserType) -> DataType {
    match of {
        DataType::List(item) => {
            let item = texts_type(item.data_type(), user);
            DataType::List(Arc::new(Field::new_list_field(item, true)))
        }
        _ => sent_arrow(user),
    }
}
