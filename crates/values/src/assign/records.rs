//! Values of composite types, from literals and from rows with other types of their fields.

use super::length::{Excess, fit};
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

/// Converts values to a type, without its length.
pub(super) type Input = fn(&ArrayRef, &SqlType, Style) -> Result<ArrayRef>;

/// The rows of a composite type.
pub(super) struct Rows<'a> {
    of: &'a SqlType,
    attributes: &'a [Attribute],
    fields: Fields,
    style: Style,
    input: Input,
}

impl<'a> Rows<'a> {
    /// Those of a type.
    ///
    /// # Errors
    /// 0A000 if it is no composite type.
    pub(super) fn new(of: &'a SqlType, style: Style, input: Input) -> Result<Self> {
        match (of.arrow(), of.attributes()) {
            (DataType::Struct(fields), Some(attributes)) => {
                Ok(Self { of, attributes, fields, style, input })
            }
            (other, _) => {
                Err(Error::unsupported(format!("a row of type {other} is not supported")))
            }
        }
    }

    /// Converts texts and rows. Each field has to fit the type of its attribute.
    ///
    /// # Errors
    /// 22P02: malformed literal. 42846: there is no cast. 0A000: an attribute is of a domain with conditions.
    pub(super) fn input(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let to = DataType::Struct(self.fields.clone());
        match array.data_type() {
            same if *same == to => Ok(Arc::clone(array)),
            DataType::Null => Ok(new_null_array(&to, array.len())),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                refuse_domains(self.attributes)?;
                self.of_texts(&cast(array, &DataType::Utf8View)?)
            }
            DataType::Struct(given) if given.len() == self.attributes.len() => {
                let rows = array.as_struct();
                self.of_columns(rows.columns().to_vec(), (rows.nulls().cloned(), rows.len()))
            }
            other => {
                let message = format!("cannot cast type {} to {}", type_name(other), self.of);
                Err(Error::new(SqlState::CannotCoerce, message))
            }
        }
    }

    /// Rows from the columns of the attributes; NULL where `nulls` says so.
    ///
    /// # Errors
    /// A value does not fit the type of its attribute.
    pub(super) fn of_columns(
        &self,
        columns: Vec<ArrayRef>,
        (nulls, count): (Option<NullBuffer>, usize),
    ) -> Result<ArrayRef> {
        let mut fitted = Vec::with_capacity(columns.len());
        for (column, attribute) in columns.into_iter().zip(self.attributes) {
            let column = (self.input)(&column, &attribute.sql_type, self.style)?;
            fitted.push(fit(column, &attribute.sql_type, Excess::Refuse)?);
        }
        let fields = self.fields.clone();
        Ok(Arc::new(StructArray::try_new_with_length(fields, fitted, nulls, count)?))
    }

    fn of_texts(&self, texts: &ArrayRef) -> Result<ArrayRef> {
        let count = self.attributes.len();
        let mut columns = vec![Vec::with_capacity(texts.len()); count];
        for text in texts.as_string_view() {
            let values = match text {
                Some(text) => record::fields(text, count)?,
                None => vec![None; count],
            };
            columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        let array = |column| Arc::new(StringViewArray::from_iter(column)) as ArrayRef;
        let columns: Vec<ArrayRef> = columns.into_iter().map(array).collect();
        self.of_columns(columns, (texts.nulls().cloned(), texts.len()))
    }
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
