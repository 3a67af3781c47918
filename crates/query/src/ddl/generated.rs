//! GENERATED ALWAYS AS (...) STORED: validation of generation expressions.

use crate::analysis;
use analyzer::RowExpression;
use datafusion::arrow::array::new_empty_array;
use datafusion::common::DFSchema;
use datafusion::logical_expr::ExprSchemable;
use parser::parse_expression;
use planner::{Planner, is_lasting};
use scan::provider::row_schema;
use store::catalog::{Column, Table};
use values::assign::assign;
use values::error::{Error, Result, SqlState};

/// Rejects invalid generated columns.
///
/// # Errors
/// 42P17 for an expression that is not immutable or uses another generated column; 42703 for an
/// unknown column; 42804 for a wrong type; 0A000 for a key column.
pub(super) fn refuse_bad(planner: &Planner<'_>, table: &Table) -> Result<()> {
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
    if let Some(row) = analysis::row::plan_one(planner, table, row)? {
        return if row.is_immutable { Ok(()) } else { Err(not_immutable()) };
    }
    let schema = DFSchema::try_from_qualified_schema(&table.name, &row_schema(table))?;
    let (logical, _) = planner.plan_expression(parse_expression(expression)?, &schema)?;
    if logical.is_volatile() || !is_lasting(&logical) {
        return Err(not_immutable());
    }
    // An assignment of no values checks the type.
    assign(&new_empty_array(&logical.get_type(&schema)?), column, planner.style())?;
    Ok(())
}

/// Whether an expression of a definition uses a column.
pub(super) fn mentions(expression: &str, column: &str) -> bool {
    let references = grammar::columns(expression).unwrap_or_default();
    references.iter().any(|reference| reference.parts.last().is_some_and(|last| last == column))
}

/// An expression of a definition in which a column has another name, which is quoted where it must be.
///
/// # Errors
/// 0A000 for a text that only other parsers than PostgreSQL's read.
pub(super) fn renamed(expression: &str, old: &str, new: &str) -> Result<String> {
    grammar::rename_column(expression, old, new).ok_or_else(|| {
        Error::unsupported(format!("renaming a column in {expression} is not supported"))
    })
}

/// A generated column that uses another column, if there is one.
pub(super) fn computed_from<'a>(table: &'a Table, column: &str) -> Option<&'a Column> {
    table.columns.iter().find(|other| {
        other.generated.as_ref().is_some_and(|expression| mentions(expression, column))
    })
}
