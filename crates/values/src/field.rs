//! Columns of a result, as clients are told of them.

use crate::style::Style;
use crate::types;
use datafusion::arrow::datatypes::Field as ArrowField;
use store::catalog::SqlType;

/// A column of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name as the statement gives it.
    pub name: String,
    /// Its SQL type; `Display` gives PostgreSQL's name.
    pub sql_type: SqlType,
    /// Whether the digits and the length of its type were declared, and are told to clients.
    pub declared: bool,
    /// How its values are written.
    pub style: Style,
    /// The table's column that it is, where it is one unchanged.
    pub origin: Option<Origin>,
}

impl Field {
    /// A computed column.
    pub fn computed(name: impl Into<String>, field: &ArrowField) -> Self {
        let declared = types::is_declared(field);
        Self { declared, ..Self::new(name, types::of_field(field)) }
    }

    /// A column that comes from no table.
    pub fn new(name: impl Into<String>, sql_type: SqlType) -> Self {
        let (name, style) = (name.into(), Style::default());
        Self { name, sql_type, declared: true, style, origin: None }
    }
}

/// A column of a table, as the catalog numbers both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// The table's object id.
    pub table: u32,
    /// The column's number in it, from 1.
    pub column: i16,
}
