//! Columns as they are defined.

use parser::commands::{self, ColumnDefinition, DataType};
use parser::types;
use store::catalog::{Column, ColumnId, Identity, SYSTEM_COLUMNS, SqlType};
use user_types::Visible;
use values::error::{Error, Result, SqlState};
use values::numbers;

/// The column of a definition. `id` is the id of the column, `text` the text of the statement.
///
/// # Errors
/// 0A000 for types that are not supported; 22023 for an identity of another type than an integer; 42P16 for a pseudo-type.
pub fn define(
    id: u32,
    definition: &ColumnDefinition,
    users: &Visible,
    text: &str,
) -> Result<Column> {
    refuse_pseudo(&definition.name, &definition.data_type)?;
    let sql_type = types::of_column_definition(&definition.data_type, users, text)?;
    of_type(id, definition, sql_type)
}

/// Refuses a column or attribute of a pseudo-type.
///
/// # Errors
/// 42P16.
pub fn refuse_pseudo(name: &str, written: &DataType) -> Result<()> {
    if !written.is_pseudo() {
        return Ok(());
    }
    let message = format!("column \"{name}\" has pseudo-type {}", written.sql_type.oid);
    Err(Error::new(SqlState::InvalidTableDefinition, message))
}

/// The column of a definition, whatever type that says.
///
/// # Errors
/// 22023 for an identity of another type than an integer.
pub fn of_type(id: u32, definition: &ColumnDefinition, sql_type: SqlType) -> Result<Column> {
    let identity = definition.identity.map(|identity| match identity {
        commands::Identity::Always => Identity::Always,
        commands::Identity::ByDefault => Identity::ByDefault,
    });
    if identity.is_some() && !is_integer(&sql_type) {
        let message = "identity column type must be smallint, integer, or bigint";
        return Err(Error::new(SqlState::InvalidParameterValue, message));
    }
    // A column has the default of its domain, as it is now.
    let has_own = identity.is_some() || definition.generated.is_some();
    let of_domain = if has_own { None } else { default_of(&sql_type) };
    Ok(Column {
        id: ColumnId(id),
        name: definition.name.clone(),
        sql_type,
        nullable: definition.is_nullable && definition.key.is_none(),
        default: definition.default.clone().or(of_domain),
        identity,
        generated: definition.generated.clone(),
        hidden: false,
        missing: None,
        comment: None,
    })
}

/// The default of a type.
pub fn default_of(sql_type: &SqlType) -> Option<String> {
    match sql_type {
        SqlType::User(user) => user.domain().and_then(|domain| domain.default.clone()),
        _ => None,
    }
}

/// Refuses the name of a system column, which every table has.
///
/// # Errors
/// 42701.
pub fn refuse_system(name: &str) -> Result<()> {
    if SYSTEM_COLUMNS.contains(&name) {
        let message = format!("column name \"{name}\" conflicts with a system column name");
        return Err(Error::new(SqlState::DuplicateColumn, message));
    }
    Ok(())
}

/// Whether a column has a sequence of its own.
pub fn has_sequence(definition: &ColumnDefinition) -> bool {
    definition.is_serial || definition.identity.is_some()
}

/// Whether a type is one of sequences.
pub fn is_integer(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::SmallInt | SqlType::Integer | SqlType::BigInt)
}

/// Whether ALTER TABLE casts a type without USING: any type to text, between numeric types, and
/// between temporal types.
pub fn is_automatic(from: &SqlType, to: &SqlType) -> bool {
    if let (SqlType::Array(from), SqlType::Array(to)) = (from, to) {
        return is_automatic(from, to);
    }
    let (from, to) = (from.arrow(), to.arrow());
    from == to
        || to.is_string()
        || numbers::is_number(&from) && numbers::is_number(&to)
        || from.is_temporal() && to.is_temporal()
}
