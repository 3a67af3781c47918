//! GENERATED ALWAYS AS (...) STORED: validation of generation expressions.

use crate::expressions;
use analyzer::RowExpression;
use planner::Planner;
use store::catalog::{Column, Table};
use values::error::{Error, Result, SqlState};

/// Rejects invalid generated columns.
///
/// # Errors
/// 42P17 for an expression that is not immutable or uses another generated column; 42703 for an
/// unknown column; 42804 for a wrong type; 0A000 for a key column.
pub fn refuse_bad(planner: &Planner<'_>, table: &Table) -> Result<()> {
    for (index, column) in table.columns.iter().enumerate() {
        if let Some(expression) = &column.generated {
            refuse(planner, table, (index, column), expression)?;
        }
    }
    Ok(())
}

fn refuse(
    planner: &Planner<'_>,
    table: &Table,
    (index, column): (usize, &Column),
    expression: &str,
) -> Result<()> {
    let name = &column.name;
    if table.key.contains(&column.id) {
        let message = format!("generated column \"{name}\" cannot be part of the primary key");
        return Err(Error::unsupported(message)
            .with_hint("Use the columns of its expression as the primary key."));
    }
    let wrong = |message: String| Error::new(SqlState::InvalidObjectDefinition, message);
    let used = |other: &&Column| other.generated.is_some() && mentions(expression, &other.name);
    if let Some(other) = table.columns.iter().find(used) {
        let message = format!(
            "cannot use generated column \"{}\" in column generation expression",
            other.name
        );
        let detail = "A generated column cannot reference another generated column.";
        return Err(wrong(message).with_detail(detail));
    }
    let not_immutable = || wrong("generation expression is not immutable".to_owned());
    let row = RowExpression::Generated(expression, index);
    match expressions::plan_one(planner, table, row)?.is_immutable {
        true => Ok(()),
        false => Err(not_immutable()),
    }
}

/// Whether an expression of a definition uses a column.
pub fn mentions(expression: &str, column: &str) -> bool {
    let references = grammar::columns(expression).unwrap_or_default();
    references.iter().any(|reference| reference.parts.last().is_some_and(|last| last == column))
}

/// An expression of a definition in which a column has another name, which is quoted where it must be.
///
/// # Errors
/// 0A000 for a text that only other parsers than PostgreSQL's read.
pub fn renamed(expression: &str, old: &str, new: &str) -> Result<String> {
    grammar::rename_column(expression, old, new).ok_or_else(|| {
        Error::unsupported(format!("renaming a column in {expression} is not supported"))
    })
}

/// A generated column that uses another column, if there is one.
pub fn computed_from<'a>(table: &'a Table, column: &str) -> Option<&'a Column> {
    table.columns.iter().find(|other| {
        other.generated.as_ref().is_some_and(|expression| mentions(expression, column))
    })
}
