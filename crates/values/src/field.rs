//! The description of a result's columns.

use crate::style::Style;
use crate::types;
use datafusion::arrow::datatypes::Field as ArrowField;
use store::catalog::SqlType;

/// A column of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The column's name in the statement.
    pub name: String,
    /// The SQL type; `Display` writes PostgreSQL's name.
    pub sql_type: SqlType,
    /// Whether the length, precision and scale of the type were declared. Only then are they
    /// part of the description that clients receive.
    pub declared: bool,
    /// The output style of the values.
    pub style: Style,
    /// The table column that it selects, if it is not computed.
    pub origin: Option<Origin>,
}

impl Field {
    /// The description of a computed column.
    pub fn computed(name: impl Into<String>, field: &ArrowField) -> Self {
        let declared = types::is_declared(field);
        Self { declared, ..Self::new(name, types::of_field(field)) }
    }

    /// The description of a column of no table.
    pub fn new(name: impl Into<String>, sql_type: SqlType) -> Self {
        let (name, style) = (name.into(), Style::default());
        Self { name, sql_type, declared: true, style, origin: None }
    }
}

/// A column of a table, by their numbers in the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The table's object id.
    pub table: u32,
    /// The column's number in the table, from 1.
    pub column: i16,
}
