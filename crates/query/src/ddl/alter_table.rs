//! ALTER TABLE. Rows are rewritten only for a new column type and a new generated column.

use super::alter_type::{self, Rewritten};
use super::checks::{self, CheckDefinition};
use super::columns::define;
use super::dependents;
use super::generated::{self, mentions};
use super::unsupported;
use crate::context::Frame;
use crate::dml::default_values::DefaultValue;
use crate::dml::{declared_column, target};
use catalog_views::pg_catalog::quote_ident;
use catalog_views::relation_names::find;
use datafusion::arrow::array::Array;
use datafusion::sql::sqlparser::ast::{
    AlterColumnOperation, AlterTable, AlterTableOperation, ColumnDef, RenameTableNameKind,
    TableConstraint,
};
use parser::names::{fold, split_name};
use parser::parse_expression;
use parser::walk::visit_expressions_mut;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Privileges, Relation, Table, View};
use values::assign::assign;
use values::error::{Error, Result, SqlState};

/// Runs an ALTER TABLE.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    alter: &AlterTable,
) -> Result<&'static str> {
    let path = frame.path();
    let relation = find(transaction.catalog(), path, &alter.name)?.cloned();
    if relation.is_none() && alter.if_exists {
        return Ok("ALTER TABLE");
    }
    if let Some(relation) = &relation {
        frame.access(transaction.catalog()).require(relation, Privileges::OWNER)?;
    }
    for operation in &alter.operations {
        if let (AlterTableOperation::RenameTable { table_name }, Some(Relation::View(view))) =
            (operation, &relation)
        {
            let view = View { name: new_name(table_name)?, ..View::clone(view) };
            transaction.change_catalog(CatalogChange::Replace(Relation::View(Arc::new(view))))?;
            continue;
        }
        let table = match &relation {
            Some(Relation::Table(table)) => {
                let now = transaction.catalog().table_by_id(table.id);
                now.cloned().unwrap_or_else(|| Arc::clone(table))
            }
            _ => target(frame, transaction, &alter.name, Privileges::OWNER)?,
        };
        let mut next = Table::clone(&table);
        let changed = change(frame, transaction, &mut next, operation).await?;
        if matches!(changed, Changed::Nothing) {
            continue;
        }
        next.version += 1;
        let next = Relation::Table(Arc::new(next));
        transaction.change_catalog(CatalogChange::Replace(next))?;
        if let Changed::Rows(rewritten) = changed {
            rewritten.write(transaction, table.id).await?;
        }
    }
    Ok("ALTER TABLE")
}

/// The effect of an operation.
enum Changed {
    Nothing,
    /// The definition only.
    Definition,
    /// The definition and all rows.
    Rows(Rewritten),
}

/// Applies an operation to the definition.
async fn change(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    operation: &AlterTableOperation,
) -> Result<Changed> {
    match operation {
        AlterTableOperation::AddColumn { column_def, if_not_exists, .. } => {
            if *if_not_exists && table.column(&fold(&column_def.name)).is_some() {
                return Ok(Changed::Nothing);
            }
            let added = add_column(frame, transaction, table, column_def)?;
            if added.is_computed || added.has_checks {
                generated::refuse_bad(&frame.planner(transaction), table)?;
                let rewritten = alter_type::compute(frame, transaction, table).await?;
                if added.is_computed {
                    return Ok(Changed::Rows(rewritten));
                }
            }
        }
        AlterTableOperation::DropColumn { column_names, if_exists, .. } => {
            for name in column_names {
                let name = fold(name);
                if *if_exists && table.column(&name).is_none() {
                    continue;
                }
                drop_column(table, &name)?;
                dependents::refuse_drop(frame, transaction, table, &name).await?;
            }
        }
        AlterTableOperation::RenameColumn { old_column_name, new_column_name } => {
            rename_column(table, &fold(old_column_name), fold(new_column_name))?;
        }
        AlterTableOperation::RenameTable { table_name } => table.name = new_name(table_name)?,
        AlterTableOperation::AlterColumn { column_name, op } => {
            let column = declared_column(table, &fold(column_name))?;
            if let AlterColumnOperation::SetDataType { data_type, using, .. } = op {
                let using = using.as_ref();
                let rewritten =
                    alter_type::change(frame, transaction, table, column, data_type, using).await?;
                return Ok(Changed::Rows(rewritten));
            }
            alter_column(frame, transaction, table, column, op).await?;
        }
        AlterTableOperation::AddConstraint { .. }
        | AlterTableOperation::DropConstraint { .. }
        | AlterTableOperation::RenameConstraint { .. } => {
            return change_constraint(frame, transaction, table, operation).await;
        }
        other => {
            let text = other.to_string();
            let what: Vec<&str> = text.split_whitespace().take(2).collect();
            return Err(Error::unsupported(format!(
                "ALTER TABLE {} is not supported",
                what.join(" ")
            )));
        }
    }
    Ok(Changed::Definition)
}

async fn change_constraint(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    operation: &AlterTableOperation,
) -> Result<Changed> {
    match operation {
        AlterTableOperation::AddConstraint {
            constraint: TableConstraint::Check(check), ..
        } => {
            let check = CheckDefinition::of(check);
            checks::add_to_rows(frame, transaction, table, check).await?;
        }
        AlterTableOperation::AddConstraint { constraint, .. } => {
            return Err(unsupported::constraint(constraint));
        }
        AlterTableOperation::DropConstraint { name, if_exists, .. } => {
            if !checks::remove(table, name, *if_exists)? {
                let what = format!("constraint \"{}\" of relation", fold(name));
                frame.skip_missing(&what, &table.name);
                return Ok(Changed::Nothing);
            }
        }
        AlterTableOperation::RenameConstraint { old_name, new_name } => {
            checks::rename(table, old_name, new_name)?;
        }
        _ => return Ok(Changed::Nothing),
    }
    Ok(Changed::Definition)
}

fn new_name(kind: &RenameTableNameKind) -> Result<String> {
    let (RenameTableNameKind::As(name) | RenameTableNameKind::To(name)) = kind;
    Ok(split_name(name)?.1)
}

fn refuse_taken(table: &Table, name: &str) -> Result<()> {
    match table.column(name) {
        None => Ok(()),
        Some(_) => Err(Error::new(
            SqlState::DuplicateColumn,
            format!("column \"{name}\" of relation \"{}\" already exists", table.name),
        )),
    }
}

/// A column that was added.
struct Added {
    /// Whether each row has a value of its own.
    is_computed: bool,
    /// Whether existing rows must fulfil conditions.
    has_checks: bool,
}

/// Adds a column. Existing rows get the current value of its default without being rewritten, unless each has its own.
///
/// # Errors
/// 42701 if the name is taken; 23502 if existing rows would have NULL in a NOT NULL column.
fn add_column(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    definition: &ColumnDef,
) -> Result<Added> {
    let defined = define(&table.name, table.next_column, definition)?;
    refuse_taken(table, &defined.column.name)?;
    if defined.is_key || defined.sequence.is_some() {
        let message =
            "a column with a primary key or a sequence cannot be added to an existing table";
        return Err(Error::unsupported(message));
    }
    let at = table.columns.len();
    table.columns.push(defined.column);
    table.next_column += 1;
    let mut is_computed = table.columns[at].generated.is_some();
    if table.columns[at].default.is_some() {
        let planner = frame.planner(transaction);
        let default = DefaultValue::of(&planner, table, at)?;
        is_computed |= default.is_volatile;
        let value = assign(&default.values(1)?, &table.columns[at], planner.style())?;
        table.columns[at].missing = Some(value);
    }
    let column = &table.columns[at];
    let missing_is_null =
        !is_computed && column.missing.as_ref().is_none_or(|value| value.is_null(0));
    let empty = transaction.table(table.id).is_some_and(|view| view.row_count() == Some(0));
    if !column.nullable && missing_is_null && !empty {
        return Err(contains_null(table, &column.name).with_hint("Give the column a DEFAULT."));
    }
    let has_checks = !defined.checks.is_empty();
    defined.checks.into_iter().try_for_each(|check| checks::add(table, check))?;
    Ok(Added { is_computed, has_checks })
}

/// The error for rows with NULL in a column that is NOT NULL from now on.
fn contains_null(table: &Table, name: &str) -> Error {
    let message = format!("column \"{name}\" of relation \"{}\" contains null values", table.name);
    Error::new(SqlState::NotNullViolation, message)
        .of_table(&table.schema, &table.name)
        .of_column(name)
}

fn drop_column(table: &mut Table, name: &str) -> Result<()> {
    let index = declared_column(table, name)?;
    if table.key.contains(&table.columns[index].id) {
        let message = format!("cannot drop column \"{name}\": it is part of the primary key");
        return Err(Error::new(SqlState::DependentObjectsStillExist, message));
    }
    let check = table.checks.iter().find(|check| mentions(&check.expression, name));
    if let Some(check) = check {
        let message =
            format!("cannot drop column \"{name}\": constraint \"{}\" uses it", check.name);
        return Err(Error::new(SqlState::DependentObjectsStillExist, message));
    }
    if let Some(computed) = generated::computed_from(table, name) {
        let (table, other) = (&table.name, &computed.name);
        let message = format!(
            "cannot drop column {name} of table {table} because other objects depend on it"
        );
        return Err(Error::new(SqlState::DependentObjectsStillExist, message)
            .with_detail(format!("column {other} of table {table} depends on column {name}"))
            .with_hint(format!("Drop column {other} first.")));
    }
    table.columns.remove(index);
    Ok(())
}

fn rename_column(table: &mut Table, old: &str, new: String) -> Result<()> {
    let index = declared_column(table, old)?;
    refuse_taken(table, &new)?;
    for check in &mut table.checks {
        check.expression = renamed(&check.expression, old, &new)?;
    }
    for expression in table.columns.iter_mut().filter_map(|column| column.generated.as_mut()) {
        *expression = renamed(expression, old, &new)?;
    }
    table.columns[index].name = new;
    Ok(())
}

/// An expression in which a column is renamed.
fn renamed(expression: &str, old: &str, new: &str) -> Result<String> {
    use datafusion::sql::sqlparser::ast::{Expr, Ident};
    let mut expression = parse_expression(expression)?;
    let _ = visit_expressions_mut(&mut expression, |expr| {
        let ident = match expr {
            Expr::Identifier(ident) => Some(ident),
            Expr::CompoundIdentifier(parts) => parts.last_mut(),
            _ => None,
        };
        if let Some(ident) = ident.filter(|ident| fold(ident) == old) {
            *ident =
                if quote_ident(new) == new { Ident::new(new) } else { Ident::with_quote('"', new) };
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    Ok(expression.to_string())
}

async fn alter_column(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    column: usize,
    operation: &AlterColumnOperation,
) -> Result<()> {
    let sets_default = matches!(
        operation,
        AlterColumnOperation::SetDefault { .. } | AlterColumnOperation::DropDefault
    );
    if sets_default && table.columns[column].generated.is_some() {
        let (name, table) = (&table.columns[column].name, &table.name);
        let message = format!("column \"{name}\" of relation \"{table}\" is a generated column");
        return Err(Error::new(SqlState::SyntaxError, message));
    }
    match operation {
        AlterColumnOperation::SetDefault { value } => {
            table.columns[column].default = Some(value.to_string());
            DefaultValue::of(&frame.planner(transaction), table, column)?;
        }
        AlterColumnOperation::DropDefault => table.columns[column].default = None,
        AlterColumnOperation::DropNotNull => {
            if table.key.contains(&table.columns[column].id) {
                let message =
                    format!("column \"{}\" is in a primary key", table.columns[column].name);
                return Err(Error::new(SqlState::InvalidTableDefinition, message));
            }
            table.columns[column].nullable = true;
        }
        AlterColumnOperation::SetNotNull => {
            refuse_nulls(frame, transaction, table, column).await?;
            table.columns[column].nullable = false;
        }
        other => return Err(Error::unsupported(format!("ALTER COLUMN {other} is not supported"))),
    }
    Ok(())
}

async fn refuse_nulls(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &Table,
    column: usize,
) -> Result<()> {
    let name = &table.columns[column].name;
    let is_null = format!("\"{name}\" IS NULL");
    if !checks::is_any_row(frame, transaction, table, &is_null).await? {
        return Ok(());
    }
    Err(contains_null(table, name))
}
