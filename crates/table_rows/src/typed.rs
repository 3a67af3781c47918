//! Tables of a composite type (OF): their columns are the attributes of the type, and change only with it.

use crate::columns;
use parser::commands::{ColumnDefinition, DataType};
use parser::types;
use std::sync::Arc;
use store::catalog::{Attribute, Column, ColumnId, SqlType, Table, UserType};
use user_types::Visible;
use values::error::{Error, Result, SqlState};

/// The composite type of OF.
///
/// # Errors
/// 42704 if there is no such type; 42809 if it is no composite type.
pub fn type_of(written: &DataType, users: &Visible, text: &str) -> Result<Arc<UserType>> {
    match types::of_written(written, users, text)? {
        SqlType::User(user) if user.attributes().is_some() && user.id.rows_of().is_none() => {
            Ok(user)
        }
        other => {
            let message = format!("type {other} is not a composite type");
            Err(Error::new(SqlState::WrongObjectType, message))
        }
    }
}

/// Checks the options that a table of a type gives its columns.
///
/// # Errors
/// 42703 for a column that the type does not have; 42701 for one that has options twice.
pub fn check_options(of: &UserType, options: &[ColumnDefinition]) -> Result<()> {
    let attributes = of.attributes().unwrap_or_default();
    for (place, option) in options.iter().enumerate() {
        let name = &option.name;
        if options[..place].iter().any(|other| other.name == *name) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(Error::new(SqlState::DuplicateColumn, message));
        }
        if attributes.iter().all(|attribute| attribute.name != *name) {
            let message = format!("column \"{name}\" does not exist");
            return Err(Error::new(SqlState::UndefinedColumn, message));
        }
    }
    Ok(())
}

/// The column of an attribute, without options.
pub fn column(id: u32, attribute: &Attribute) -> Column {
    Column {
        name: attribute.name.clone(),
        sql_type: attribute.sql_type.clone(),
        nullable: true,
        default: columns::default_of(&attribute.sql_type),
        hidden: false,
        ..Column::row_id(ColumnId(id))
    }
}

/// Refuses to change the columns of a table of a type. `what` is how: `add column to`.
///
/// # Errors
/// 42809.
pub fn refuse(table: &Table, what: &str) -> Result<()> {
    match table.extension.of_type {
        None => Ok(()),
        Some(_) => Err(Error::new(SqlState::WrongObjectType, format!("cannot {what} typed table"))),
    }
}

/// ALTER TABLE ... OF and NOT OF.
///
/// # Errors
/// As of [`type_of`]; 42804 if the columns are not the attributes of the type; 42809 for NOT OF of a table without a type.
pub fn change(table: &mut Table, of: Option<&DataType>, users: &Visible, text: &str) -> Result<()> {
    let Some(of) = of else {
        let message = format!("\"{}\" is not a typed table", table.name);
        return match table.extension.of_type.take() {
            Some(_) => Ok(()),
            None => Err(Error::new(SqlState::WrongObjectType, message)),
        };
    };
    let of = type_of(of, users, text)?;
    let different = |message: String| Err(Error::new(SqlState::DatatypeMismatch, message));
    let mut columns = table.columns.iter().filter(|column| !column.hidden);
    for attribute in of.attributes().unwrap_or_default() {
        let name = &attribute.name;
        match columns.next() {
            None => return different(format!("table is missing column \"{name}\"")),
            Some(column) if column.name != *name => {
                let found = &column.name;
                let message =
                    format!("table has column \"{found}\" where type requires \"{name}\"");
                return different(message);
            }
            Some(column) if column.sql_type != attribute.sql_type => {
                let message =
                    format!("table \"{}\" has different type for column \"{name}\"", table.name);
                return different(message);
            }
            Some(_) => {}
        }
    }
    if let Some(column) = columns.next() {
        return different(format!("table has extra column \"{}\"", column.name));
    }
    table.extension.of_type = Some(of.id);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::catalog::RelationId;

    #[test]
    fn columns_of_attributes_may_be_null_and_have_no_key() {
        let attribute = Attribute { name: "a".to_owned(), sql_type: SqlType::Integer };
        let of = UserType::of_rows(RelationId(7), ("public", "r"), vec![attribute.clone()]);
        let made = column(3, &attribute);
        assert_eq!((made.id, made.nullable, made.hidden), (ColumnId(3), true, false));
        assert!(check_options(&of, &[]).is_ok());
    }
}
