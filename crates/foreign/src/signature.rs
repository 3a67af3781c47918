//! What functions take, and what they give: values, rows, and sets of either.

use datafusion::arrow::array::{ArrayRef, ListArray, StringViewArray, StructArray};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use std::sync::Arc;
use store::catalog::{Attribute, SqlType, Volatility};
use values::error::{Error, Result, SqlState};
use values::types::plan_field;

/// A parameter, or a column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The name; empty if it has none.
    pub name: String,
    /// The type.
    pub sql_type: SqlType,
}

/// What a function takes and gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// What it gives.
    pub returns: Returns,
    /// Whether a NULL argument makes the value NULL.
    pub is_strict: bool,
    /// Whether it gives other values for the same arguments.
    pub volatility: Volatility,
}

/// What a function gives for the arguments of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Returns {
    /// The columns; of a plain value, that one; none of `void`.
    pub columns: Vec<Parameter>,
    /// Whether the columns make a row, not a plain value.
    pub is_row: bool,
    /// Whether there may be any number of values or rows.
    pub is_set: bool,
}

impl Returns {
    /// A plain value.
    pub fn value(sql_type: SqlType) -> Self {
        let columns = vec![Parameter { name: String::from("value"), sql_type }];
        Self { columns, is_row: false, is_set: false }
    }

    /// Nothing: `void`, whose only value is an empty text.
    pub fn void() -> Self {
        Self { columns: Vec::new(), is_row: false, is_set: false }
    }

    /// A value of a composite type, or a set of its rows.
    pub fn composite(sql_type: SqlType, is_set: bool) -> Self {
        if !is_set {
            return Self::value(sql_type);
        }
        let attributes = sql_type.attributes().unwrap_or_default().iter();
        let column =
            |of: &Attribute| Parameter { name: of.name.clone(), sql_type: of.sql_type.clone() };
        Self { columns: attributes.map(column).collect(), is_row: true, is_set }
    }

    /// Whether it is `void`.
    pub(crate) fn is_void(&self) -> bool {
        self.columns.is_empty() && !self.is_row && !self.is_set
    }

    /// The values of `void` for a number of rows.
    pub(crate) fn nothing(rows: usize) -> ArrayRef {
        Arc::new(StringViewArray::from_iter_values(std::iter::repeat_n("", rows)))
    }

    /// The type of a plain value. `None` of rows and sets.
    pub fn plain(&self) -> Option<&SqlType> {
        match self.columns.as_slice() {
            [only] if !self.is_row && !self.is_set => Some(&only.sql_type),
            [] if self.is_void() => Some(&SqlType::Text),
            _ => None,
        }
    }

    /// The field of the engine's column. Sets are lists of records, also those of plain values.
    pub fn field(&self, name: &str) -> Field {
        match self.plain() {
            Some(sql_type) => plan_field(name, sql_type, true),
            None => Field::new(name, self.data_type(), true),
        }
    }

    /// The type of the engine's column.
    pub fn data_type(&self) -> DataType {
        match self.plain() {
            Some(sql_type) => sql_type.arrow(),
            None if self.is_set => DataType::List(self.item()),
            None => DataType::Struct(self.fields()),
        }
    }

    fn fields(&self) -> Fields {
        let field = |column: &Parameter| plan_field(&column.name, &column.sql_type, true);
        self.columns.iter().map(field).collect()
    }

    fn item(&self) -> Arc<Field> {
        Arc::new(Field::new("item", DataType::Struct(self.fields()), true))
    }

    /// The engine's column. `lengths` are those of the sets of each row; `nulls` are the rows that are NULL.
    pub(crate) fn assembled(
        &self,
        mut columns: Vec<ArrayRef>,
        lengths: &[usize],
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        if self.plain().is_some() {
            let none = || Error::new(SqlState::InternalError, "a function has no result");
            return columns.pop().ok_or_else(none);
        }
        let rows = StructArray::try_new(self.fields(), columns, nulls)?;
        if !self.is_set {
            return Ok(Arc::new(rows));
        }
        let offsets = OffsetBuffer::from_lengths(lengths.iter().copied());
        Ok(Arc::new(ListArray::try_new(self.item(), offsets, Arc::new(rows), None)?))
    }
}

impl std::fmt::Display for Returns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.columns.as_slice() {
            [only] if !self.is_row => write!(f, "{}", only.sql_type),
            [] if !self.is_row => f.write_str("void"),
            _ => f.write_str("record"),
        }
    }
}
