//! CHECK constraints: their names, and ALTER TABLE ... ADD, DROP and RENAME CONSTRAINT.

use crate::analysis;
use crate::context::Frame;
use crate::context::start;
use futures::TryStreamExt;
use integrity::names;
use parser::commands::Check as Written;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Check, Table};
use table_rows::Constraints;
use table_rows::generated::mentions;
use values::error::{Error, Result, SqlState};

/// Adds a check to a table definition. A check without a name is named after its column if it uses
/// exactly one, otherwise after the table.
///
/// # Errors
/// 42710 if the name is taken.
pub(super) fn add(table: &mut Table, check: Written) -> Result<()> {
    let Written { name, condition: expression, is_valid } = check;
    let name = match name {
        Some(name) if is_taken(table, &name) => {
            let message =
                format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
            return Err(Error::new(SqlState::DuplicateObject, message));
        }
        Some(name) => name,
        None => free_name(table, &expression),
    };
    table.checks.push(Check { name, expression, is_valid });
    Ok(())
}

fn is_taken(table: &Table, name: &str) -> bool {
    table.checks.iter().any(|check| check.name == name)
        || table.foreign_keys.iter().any(|key| key.name == name)
        || table.is_key_name(name)
}

fn free_name(table: &Table, expression: &str) -> String {
    let mut mentioned = table.columns.iter().filter(|column| mentions(expression, &column.name));
    let stem = match (mentioned.next(), mentioned.next()) {
        (Some(column), None) => format!("{}_{}_check", table.name, column.name),
        _ => format!("{}_check", table.name),
    };
    let numbered = (1..).map(|number| format!("{stem}{number}"));
    let mut names = std::iter::once(stem.clone()).chain(numbered);
    names.find(|name| !is_taken(table, name)).unwrap_or(stem)
}

/// ALTER TABLE ... ADD CHECK.
///
/// # Errors
/// 23514 if a row violates the condition; 42710 if the name is taken.
pub(super) async fn add_to_rows(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    check: Written,
) -> Result<()> {
    if let Some(name) = &check.name {
        names::refuse_taken(transaction.catalog(), table, name, false)?;
    }
    add(table, check)?;
    Constraints::new(&frame.planner(transaction), &Arc::new(table.clone()))?;
    match table.checks.last() {
        Some(check) if check.is_valid => check_rows(frame, transaction, table, check).await,
        _ => Ok(()),
    }
}

/// VALIDATE CONSTRAINT of a check. Returns whether the definition changes.
///
/// # Errors
/// 23514 if a row violates the condition; 42704 if there is no such check; 42809 if it is another
/// constraint.
pub(super) async fn validate(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    name: &str,
) -> Result<bool> {
    let Some(at) = table.checks.iter().position(|check| check.name == name) else {
        let is_key = table.is_key_name(name);
        let mut indexes = transaction.catalog().indexes_of(table.id).iter();
        if is_key || indexes.any(|index| index.is_constraint && index.file.name == name) {
            let message = format!(
                "constraint \"{name}\" of relation \"{}\" is not a foreign key or check constraint",
                table.name
            );
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
        return Err(missing(table, name));
    };
    if table.checks[at].is_valid {
        return Ok(false);
    }
    check_rows(frame, transaction, table, &table.checks[at]).await?;
    table.checks[at].is_valid = true;
    Ok(true)
}

/// Refuses a check that a row violates.
async fn check_rows(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
    check: &Check,
) -> Result<()> {
    let condition = format!("NOT ({})", check.expression);
    if !is_any_row(frame, transaction, table, &condition).await? {
        return Ok(());
    }
    let name = &check.name;
    let message = format!(
        "check constraint \"{name}\" of relation \"{}\" is violated by some row",
        table.name
    );
    Err(Error::new(SqlState::CheckViolation, message)
        .of_table(&table.schema, &table.name)
        .of_constraint(name))
}

/// ALTER TABLE ... DROP CONSTRAINT. Returns whether the constraint existed.
///
/// # Errors
/// 42704 if it does not exist, unless `if_exists` is set.
pub(super) fn remove(table: &mut Table, name: &str, if_exists: bool) -> Result<bool> {
    if let Some(index) = table.checks.iter().position(|check| check.name == name) {
        table.checks.remove(index);
        return Ok(true);
    }
    if if_exists { Ok(false) } else { Err(missing(table, name)) }
}

/// ALTER TABLE ... RENAME CONSTRAINT.
///
/// # Errors
/// 42704 if there is no such check; 42710 if the new name is taken.
pub(super) fn rename(table: &mut Table, old: &str, new: &str) -> Result<()> {
    let foreign = table.foreign_keys.iter().position(|key| key.name == old);
    let checked = table.checks.iter().position(|check| check.name == old);
    if foreign.or(checked).is_none() {
        let message = format!("constraint \"{old}\" for table \"{}\" does not exist", table.name);
        return Err(Error::new(SqlState::UndefinedObject, message));
    }
    if is_taken(table, new) {
        let message =
            format!("constraint \"{new}\" for relation \"{}\" already exists", table.name);
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    if let Some(at) = checked {
        table.checks[at].name = new.to_owned();
    }
    if let Some(at) = foreign {
        table.foreign_keys[at].name = new.to_owned();
    }
    table.move_constraint_comment(old, new);
    Ok(())
}

fn missing(table: &Table, name: &str) -> Error {
    let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
    Error::new(SqlState::UndefinedObject, message)
}

/// Whether a condition is true for any row of a table.
pub(super) async fn is_any_row(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
    condition: &str,
) -> Result<bool> {
    let (schema, name) = (&table.schema, &table.name);
    let text = format!("SELECT 1 FROM \"{schema}\".\"{name}\" WHERE {condition} LIMIT 1");
    let planner = frame.planner(transaction);
    let (plan, _) = analysis::plan_text(&planner, &text).await?;
    let physical = planner.physical(&plan).await?;
    let batches: Vec<_> = start(frame, physical)?.try_collect().await?;
    Ok(batches.iter().any(|batch| batch.num_rows() > 0))
}
