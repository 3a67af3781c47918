//! Indexes that become constraints (USING INDEX).

use std::sync::Arc;
use store::catalog::{Catalog, Index, Relation, Table};
use values::error::{Error, Result, SqlState};

/// Finds the index of a name, which is to become a constraint of a table.
///
/// # Errors
/// 42704 if there is none in the schema of the table; 55000 if it is of another table or a constraint already; 42809 if it
/// is not unique, or has expressions, a condition or an order of its own.
pub fn usable_index(catalog: &Catalog, table: &Table, name: &str) -> Result<Arc<Index>> {
    let index = match catalog.relation(&table.schema, name) {
        Some(Relation::Index(index)) => index,
        _ if catalog.table_of_key(&table.schema, name).is_some() => return Err(constrained(name)),
        _ => {
            let message = format!("index \"{name}\" does not exist");
            return Err(Error::new(SqlState::UndefinedObject, message));
        }
    };
    if index.is_constraint {
        return Err(constrained(name));
    }
    if index.table != table.id {
        let message = format!("index \"{name}\" does not belong to table \"{}\"", table.name);
        return Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message));
    }
    let own_order = index.columns.iter().position(|column| {
        column.descending || column.nulls_first || column.operator_class.is_some()
    });
    let message = if !index.is_unique {
        format!("\"{name}\" is not a unique index")
    } else if index.columns.iter().any(|column| column.key.expression().is_some()) {
        format!("index \"{name}\" contains expressions")
    } else if index.predicate.is_some() {
        format!("\"{name}\" is a partial index")
    } else if let Some(at) = own_order {
        let number = at + 1;
        format!("index \"{name}\" column number {number} does not have default sorting behavior")
    } else {
        return Ok(Arc::clone(index));
    };
    let detail = "Cannot create a primary key or unique constraint using such an index.";
    Err(Error::new(SqlState::WrongObjectType, message).with_detail(detail))
}

fn constrained(name: &str) -> Error {
    let message = format!("index \"{name}\" is already associated with a constraint");
    Error::new(SqlState::ObjectNotInPrerequisiteState, message)
}
