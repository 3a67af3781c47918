//! The columns of a primary key in CREATE TABLE.

use store::catalog::Table;
use values::error::{Error, Result, SqlState};

/// Makes the columns of a name list the key of a table.
pub(super) fn set_key(table: &mut Table, names: &[String]) -> Result<()> {
    let mut key = Vec::new();
    for name in names {
        let Some(column) = table.columns.iter_mut().find(|c| c.name == *name && !c.hidden) else {
            let message = format!("column \"{name}\" named in key does not exist");
            return Err(Error::new(SqlState::UndefinedColumn, message));
        };
        if key.contains(&column.id) {
            let message = format!("column \"{name}\" appears twice in primary key constraint");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        if !store::key::is_key_type(&column.sql_type.arrow()) {
            let message = format!("type {} cannot be part of a primary key", column.sql_type);
            return Err(Error::new(SqlState::InvalidTableDefinition, message));
        }
        column.nullable = false;
        key.push(column.id);
    }
    table.key = key;
    Ok(())
}
