//! CHECK constraints of a table: their names, and those that come and go after the table.

use super::generated::mentions;
use crate::context::Frame;
use crate::context::start;
use crate::dml::constraints::Constraints;
use datafusion::sql::sqlparser::ast::Ident;
use futures::TryStreamExt;
use parser::names::fold;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Check, Table};
use values::error::{Error, Result, SqlState};

/// A CHECK as a statement has it: its name, if it has one, and the condition.
pub(super) type Written = (Option<String>, String);

/// Adds a check to a definition. One without a name is called after the one column that it mentions, or the table.
///
/// # Errors
/// 42710: the name is another's.
pub(super) fn add(table: &mut Table, (name, expression): Written) -> Result<()> {
    let name = match name {
        Some(name) if is_taken(table, &name) => {
            let message =
                format!("constraint \"{name}\" for relation \"{}\" already exists", table.name);
            return Err(Error::new(SqlState::DuplicateObject, message));
        }
        Some(name) => name,
        None => free_name(table, &expression),
    };
    table.checks.push(Check { name, expression });
    Ok(())
}

fn is_taken(table: &Table, name: &str) -> bool {
    table.checks.iter().any(|check| check.name == name) || table.key_name() == name
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

/// ALTER TABLE ... ADD CHECK: all rows must be as it says.
///
/// # Errors
/// 23514: one is not.
pub(super) async fn add_to_rows(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    check: Written,
) -> Result<()> {
    let condition = format!("NOT ({})", check.1);
    add(table, check)?;
    Constraints::new(&frame.planner(transaction), &Arc::new(table.clone()))?;
    if !is_any_row(frame, transaction, table, &condition).await? {
        return Ok(());
    }
    let name = table.checks.last().map(|check| check.name.as_str()).unwrap_or_default();
    let message = format!(
        "check constraint \"{name}\" of relation \"{}\" is violated by some row",
        table.name
    );
    Err(Error::new(SqlState::CheckViolation, message)
        .of_table(&table.schema, &table.name)
        .of_constraint(name))
}

/// ALTER TABLE ... DROP CONSTRAINT. Whether there was one.
///
/// # Errors
/// 42704: there is none of the name. 0A000: it is the primary key.
pub(super) fn remove(table: &mut Table, name: &Ident, if_exists: bool) -> Result<bool> {
    let name = fold(name);
    if let Some(index) = table.checks.iter().position(|check| check.name == name) {
        table.checks.remove(index);
        return Ok(true);
    }
    if table.key_name() == name && !table.has_hidden_key() {
        return Err(Error::unsupported("a primary key cannot be dropped")
            .with_hint("Make another table with CREATE TABLE ... and INSERT ... SELECT."));
    }
    match if_exists {
        true => Ok(false),
        false => Err(missing(table, &name)),
    }
}

/// ALTER TABLE ... RENAME CONSTRAINT.
///
/// # Errors
/// 42704: there is no check of the name, 42710: the new name is another's.
pub(super) fn rename(table: &mut Table, old: &Ident, new: &Ident) -> Result<()> {
    let (old, new) = (fold(old), fold(new));
    let Some(index) = table.checks.iter().position(|check| check.name == old) else {
        return Err(missing(table, &old));
    };
    if is_taken(table, &new) {
        let message =
            format!("constraint \"{new}\" for relation \"{}\" already exists", table.name);
        return Err(Error::new(SqlState::DuplicateObject, message));
    }
    table.checks[index].name = new;
    Ok(())
}

fn missing(table: &Table, name: &str) -> Error {
    let message = format!("constraint \"{name}\" of relation \"{}\" does not exist", table.name);
    Error::new(SqlState::UndefinedObject, message)
}

/// Whether a condition is true for any row that a table has.
pub(super) async fn is_any_row(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
    condition: &str,
) -> Result<bool> {
    let (schema, name) = (&table.schema, &table.name);
    let text = format!("SELECT 1 FROM \"{schema}\".\"{name}\" WHERE {condition} LIMIT 1");
    let query = parser::parse_sql(&text)?;
    let mut planner = frame.planner(transaction);
    let plan = planner.plan_statement(query).await?;
    let physical = planner.physical(&plan).await?;
    let batches: Vec<_> = start(frame, physical)?.try_collect().await?;
    Ok(batches.iter().any(|batch| batch.num_rows() > 0))
}
