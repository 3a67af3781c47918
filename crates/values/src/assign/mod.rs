//! Assignment casts: a computed column becomes the column of a table, or the statement fails.

mod hexadecimal;
mod input;
pub mod labels;
mod length;
mod numbers;
mod records;
mod rewrite;
mod rows;
mod zoned;

pub use input::input;
pub use length::{Excess, fit};
pub use numbers::opened;
pub use rows::{as_decimals, as_texts, converted};

use crate::error::{Error, Result, SqlState};
use crate::nested_arrays;
use crate::style::Style;
use crate::translate::type_name;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::NullBuffer;
use input::{is_assignable, is_text};
use store::catalog::{Column, SqlType};

/// Converts values to the type of a column. Texts are read in the style of a session.
///
/// # Errors
/// 42804: the types have no assignment cast. 22001, 22003, 22007, 22P02: a value does not fit the type; the detail names
/// the column.
pub fn assign(array: &ArrayRef, column: &Column, style: Style) -> Result<ArrayRef> {
    let from = array.data_type();
    // There is no assignment cast from numbers and dates to JSON.
    let is_json = matches!(column.sql_type, SqlType::Json | SqlType::Jsonb) && !from.is_null();
    if !is_text(from) && (is_json || !is_assignable(from, &column.sql_type.arrow())) {
        let message = format!(
            "column \"{}\" is of type {} but expression is of type {}",
            column.name,
            column.sql_type,
            type_name(from)
        );
        return Err(Error::new(SqlState::DatatypeMismatch, message)
            .with_hint("You will need to rewrite or cast the expression."));
    }
    if nested_arrays::is_nested(from) {
        let message = "a column with arrays of several dimensions is not supported";
        return Err(with_column(Error::unsupported(message), column));
    }
    input(array, &column.sql_type, style)
        .and_then(|array| fit(array, &column.sql_type, Excess::Refuse))
        .map_err(|error| with_column(error, column))
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
    records::Rows::new(sql_type, style, input)?.of_columns(columns, nulls)
}

/// Adds the column to the detail of an error that has none.
fn with_column(error: Error, column: &Column) -> Error {
    match error.detail() {
        Some(_) => error,
        None => error.with_detail(format!("Column \"{}\" is {}.", column.name, column.sql_type)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Array, AsArray, StringViewArray};
    use std::sync::Arc;
    use store::catalog::ColumnId;

    fn column(sql_type: SqlType) -> Column {
        Column {
            id: ColumnId(0),
            name: "c".to_owned(),
            sql_type,
            nullable: true,
            default: None,
            identity: None,
            generated: None,
            hidden: false,
            missing: None,
            comment: None,
        }
    }

    fn text(value: &str) -> ArrayRef {
        Arc::new(StringViewArray::from(vec![Some(value), None]))
    }

    fn state_of(value: &str, sql_type: SqlType) -> Option<SqlState> {
        assign(&text(value), &column(sql_type), Style::default()).err().map(|error| error.state())
    }

    #[test]
    fn values_that_do_not_fit_are_refused_by_kind() {
        assert_eq!(state_of("12", SqlType::Integer), None);
        assert_eq!(state_of("x", SqlType::Integer), Some(SqlState::InvalidTextRepresentation));
        assert_eq!(state_of("abcd", SqlType::Varchar(Some(4))), None);
        let long = SqlState::StringDataRightTruncation;
        assert_eq!(state_of("abcde", SqlType::Varchar(Some(4))), Some(long));
        assert_eq!(state_of("ab   ", SqlType::Char(2)), None);
        assert_eq!(state_of("äöüß", SqlType::Varchar(Some(4))), None, "characters, not bytes");
        assert_eq!(state_of("{\"a\": [1]}", SqlType::Json), None);
        assert_eq!(state_of("{a}", SqlType::Json), Some(SqlState::InvalidTextRepresentation));
        assert_eq!(state_of("1e999999", SqlType::Json), None);
        let beyond = SqlState::NumericValueOutOfRange;
        assert_eq!(state_of("1e999999", SqlType::Jsonb), Some(beyond));
        assert_eq!(state_of("2026-02-30", SqlType::Date), Some(SqlState::DatetimeFieldOverflow));
        assert_eq!(state_of("someday", SqlType::Date), Some(SqlState::InvalidDatetimeFormat));
        assert_eq!(state_of("\\xzz", SqlType::Bytea), Some(SqlState::InvalidParameterValue));
        assert_eq!(state_of("\\x1", SqlType::Bytea), Some(SqlState::InvalidParameterValue));
        assert_eq!(state_of("maybe", SqlType::Boolean), Some(SqlState::InvalidTextRepresentation));
    }

    #[test]
    fn uuids_are_kept_in_one_form() {
        let array = assign(
            &text("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"),
            &column(SqlType::Uuid),
            Style::default(),
        );
        let array = array.expect("a uuid");
        assert_eq!(array.as_string_view().value(0), "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11");
        assert!(array.is_null(1));
    }
}
