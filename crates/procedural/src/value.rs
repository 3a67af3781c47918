//! Values of variables.

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{
    DataType, Field as ArrowField, Float64Type, Int32Type, Int64Type, Schema, SchemaRef,
};
use datafusion::common::ScalarValue;
use plpgsql::Answer;
use std::sync::Arc;
use store::catalog::{SqlType, SystemType, UserType};
use system_catalog::Oid;
use values::assign::labels::{numbers, texts};
use values::error::{Error, Result};
use values::field::Field;
use values::types::BPCHAR;

/// A value with its type.
#[derive(Debug, Clone)]
pub struct Value {
    /// The value.
    pub scalar: ScalarValue,
    /// The type.
    pub of: SqlType,
}

impl Value {
    /// The value of a row in a column.
    ///
    /// # Errors
    /// The array is of an unknown type.
    pub fn at(array: &dyn Array, row: usize, of: &SqlType) -> Result<Self> {
        if let Some(scalar) = plain(array, row, of) {
            return Ok(Self { scalar, of: of.clone() });
        }
        let scalar = values::shown::scalar(ScalarValue::try_from_array(array, row)?)?;
        let scalar = match of.user_type() {
            Some(user) => of_labels(scalar, user)?,
            None => scalar,
        };
        // The type of a NULL is that of the variable.
        let scalar = match scalar {
            null if null.is_null() && of.has_labels() => ScalarValue::try_from(&of.arrow())?,
            ScalarValue::Null => ScalarValue::try_from(&of.arrow())?,
            scalar => scalar,
        };
        Ok(Self { scalar, of: of_one_dimension(of).clone() })
    }

    /// NULL of a type.
    pub(crate) fn null(of: &SqlType) -> Self {
        let of = of_one_dimension(of);
        let scalar = ScalarValue::try_from(&representation(of)).unwrap_or(ScalarValue::Null);
        Self { scalar, of: of.clone() }
    }
}

/// The value of a row in a column of numbers, truth values or texts. `None` of others.
fn plain(array: &dyn Array, row: usize, of: &SqlType) -> Option<ScalarValue> {
    use ScalarValue as V;
    let is_valid = array.is_valid(row);
    Some(match of {
        SqlType::Integer => {
            let numbers = array.as_primitive_opt::<Int32Type>()?;
            V::Int32(is_valid.then(|| numbers.value(row)))
        }
        SqlType::BigInt => {
            let numbers = array.as_primitive_opt::<Int64Type>()?;
            V::Int64(is_valid.then(|| numbers.value(row)))
        }
        SqlType::Double => {
            let numbers = array.as_primitive_opt::<Float64Type>()?;
            V::Float64(is_valid.then(|| numbers.value(row)))
        }
        SqlType::Boolean => {
            let truths = array.as_boolean_opt()?;
            V::Boolean(is_valid.then(|| truths.value(row)))
        }
        SqlType::Text | SqlType::Varchar(None) => {
            let texts = array.as_string_view_opt()?;
            V::Utf8View(is_valid.then(|| texts.value(row).to_owned()))
        }
        _ => return None,
    })
}

/// Arrays of several dimensions are of the type of those of one, and what functions without a value return is a text.
fn of_one_dimension(mut of: &SqlType) -> &SqlType {
    while let SqlType::Array(item) = of
        && matches!(**item, SqlType::Array(_))
    {
        of = item;
    }
    match of {
        SqlType::System(SystemType::Void | SystemType::Cstring) => &SqlType::Text,
        of => of,
    }
}

/// The Arrow type of the values of a type.
pub(crate) fn representation(of: &SqlType) -> DataType {
    match of {
        SqlType::Array(item) => {
            DataType::List(Arc::new(ArrowField::new_list_field(representation(item), true)))
        }
        of => of.arrow(),
    }
}

/// The numbers of labels, as which values of enums are computed with. Clients get the labels.
fn of_labels(scalar: ScalarValue, user: &UserType) -> Result<ScalarValue> {
    let is_number = matches!(scalar, ScalarValue::Int64(_) | ScalarValue::Null);
    if !user.has_labels() || is_number || scalar.is_null() {
        return Ok(scalar);
    }
    Ok(ScalarValue::try_from_array(&numbers(&scalar.to_array()?, user)?, 0)?)
}

/// A value as clients get it.
///
/// # Errors
/// 0A000 for names of objects, which only statements make of their ids.
pub fn shown(value: &Value) -> Result<ScalarValue> {
    if value.of.has_shown_form() {
        let message = format!("an output parameter of type {} is not supported", named(&value.of));
        return Err(Error::unsupported(message).with_hint("Cast the value to text."));
    }
    match value.of.user_type().filter(|user| user.has_labels()) {
        Some(user) => Ok(ScalarValue::try_from_array(&texts(&value.scalar.to_array()?, user)?, 0)?),
        None => Ok(value.scalar.clone()),
    }
}

/// A type as it is written in a cast, which no search path changes.
pub fn written(of: &SqlType) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    match of {
        SqlType::User(user) => format!("{}.{}", quoted(&user.schema), quoted(&user.name)),
        SqlType::Array(item) => format!("{}[]", written(item)),
        // `character` alone is of one character.
        of if *of == BPCHAR => "bpchar".to_owned(),
        of => named(of),
    }
}

/// A type without length, digits and precision, as it is written in a cast.
pub(crate) fn unbounded(of: &SqlType) -> String {
    match of {
        SqlType::Array(item) => format!("{}[]", unbounded(item)),
        SqlType::Precise(of, _) => unbounded(of),
        SqlType::Numeric { .. } => written(&SqlType::NUMERIC),
        SqlType::Varchar(_) => written(&SqlType::Varchar(None)),
        SqlType::Char(_) => written(&BPCHAR),
        of => written(of),
    }
}

/// A type of the system as it is written in a cast.
pub fn written_id(oid: Oid) -> String {
    match oid.element().unwrap_or(oid) {
        Oid::BPCHAR if oid == Oid::BPCHAR => written(&BPCHAR),
        Oid::BPCHAR => written(&SqlType::Array(Box::new(BPCHAR))),
        _ => oid.to_string(),
    }
}

/// The digits that computed numbers have, whatever was declared.
const COMPUTED_DIGITS: u8 = 38;

/// The type that others are converted to when they take the place of a value, as it is written in a cast. `None` if it
/// cannot be written.
pub(crate) fn assignable(of: &SqlType) -> Option<String> {
    match of {
        SqlType::Array(item) => Some(format!("{}[]", assignable(item)?)),
        SqlType::Numeric { precision: COMPUTED_DIGITS, .. } => Some("numeric".to_owned()),
        SqlType::Other(_) => None,
        of => Some(written(of)),
    }
}

/// A type as messages name it.
pub(crate) fn named(of: &SqlType) -> String {
    match of {
        SqlType::Array(item) => format!("{}[]", named(item)),
        of if *of == BPCHAR => "character".to_owned(),
        of => of.to_string(),
    }
}

/// The type below a domain; other types are their own.
pub(crate) fn base(of: &SqlType) -> &SqlType {
    match of {
        SqlType::User(user) => user.domain().map_or(of, |domain| base(&domain.base)),
        of => of,
    }
}

/// The columns of rows, of which there is none.
pub(crate) fn schema_of(fields: &[Field]) -> SchemaRef {
    let column =
        |field: &Field| ArrowField::new(&field.name, representation(&field.sql_type), true);
    Arc::new(Schema::new(fields.iter().map(column).collect::<Vec<_>>()))
}

/// The rows of some batches.
pub(crate) fn answer(fields: &[Field], batches: &[RecordBatch]) -> Result<Answer<Value>> {
    let mut rows = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for batch in batches {
        for row in 0..batch.num_rows() {
            let mut values = Vec::with_capacity(fields.len());
            for (array, field) in batch.columns().iter().zip(fields) {
                values.push(Value::at(array, row, &field.sql_type)?);
            }
            rows.push(values);
        }
    }
    let columns = fields.iter().map(|field| field.name.clone()).collect();
    let nulls = match rows.is_empty() {
        true => fields.iter().map(|field| Value::null(&field.sql_type)).collect(),
        false => Vec::new(),
    };
    Ok(Answer { columns, count: rows.len() as u64, rows, nulls, has_rows: true })
}
