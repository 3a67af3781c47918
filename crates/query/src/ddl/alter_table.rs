//! ALTER TABLE. Rows are rewritten only for a new column type and a new generated column.

use super::alter_type::{self, Rewritten};
use super::alter_view;
use super::checks;
use super::dependents;
use super::existing_index;
use super::follow;
use super::foreign_keys;
use super::identity;
use super::in_use::refuse_in_use;
use super::index;
use super::index_columns;
use super::not_null::{contains_null, refuse_nulls};
use super::primary_key;
use super::rename::refuse_taken;
use super::triggers;
use crate::context::Frame;
use crate::dml::{declared_column, named_target};
use catalog_views::relation_names::{a_kind, find_named};
use datafusion::arrow::array::Array;
use grammar::written::Names;
use parser::commands::{AlterOperation, AlterTable, ColumnDefinition, ObjectKind, TableConstraint};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Column, Privileges, Relation, Table, TableId};
use table_rows::columns::{define, has_sequence};
use table_rows::default_values::DefaultValue;
use table_rows::generated::{self, mentions};
use table_rows::typed;
use values::assign::assign;
use values::error::{Error, Result, SqlState};

/// Runs an ALTER TABLE.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    alter: &AlterTable,
) -> Result<()> {
    let relation = find_named(transaction.catalog(), frame.path(), &alter.name)?;
    match relation {
        None if alter.if_exists => {
            frame.skip_missing("relation", &alter.name.name);
            return Ok(());
        }
        // ALTER TABLE is for views, too.
        Some(Relation::View(view))
            if matches!(alter.kind, ObjectKind::View | ObjectKind::Table) =>
        {
            let view = Arc::clone(view);
            return alter_view::run(frame, transaction, &view, &alter.operations).await;
        }
        Some(relation) if alter.kind.name() != relation.kind() => {
            let (name, kind) = (relation.name(), alter.kind.name());
            let message = format!("\"{name}\" is not {}", a_kind(kind));
            return Err(Error::new(SqlState::WrongObjectType, message));
        }
        Some(relation) if alter.is_of_storage() => {
            return frame.access(transaction.catalog()).require(relation, Privileges::OWNER);
        }
        // Where there is none, what follows says whether it is a system table.
        Some(Relation::Table(_)) | None => {}
        Some(relation) => {
            let what = relation.kind().to_uppercase();
            return Err(Error::unsupported(format!("this form of ALTER {what} is not supported")));
        }
    }
    let table = named_target(frame, transaction, &alter.name, Privileges::OWNER)?;
    let id = table.id;
    refuse_in_use(frame, transaction, &Relation::Table(table), "ALTER TABLE")?;
    refuse_changed(&alter.operations)?;
    for operation in &alter.operations {
        refuse_typed(transaction, id, operation)?;
        if changes_keys(frame, transaction, id, operation).await? {
            continue;
        }
        let Some(table) = transaction.catalog().table_by_id(id).cloned() else { break };
        let mut next = Table::clone(&table);
        let changed = change(frame, transaction, &mut next, operation).await?;
        if matches!(changed, Changed::Nothing) {
            continue;
        }
        next.version += 1;
        let next = CatalogChange::Replace(Relation::Table(Arc::new(next)));
        match operation {
            // Aliases of the table name its columns one by one, and names of views do not mean a new column.
            AlterOperation::AddColumn { .. } | AlterOperation::DropColumn { .. } => {
                follow::change(frame, transaction, vec![next], None).await?;
            }
            _ => transaction.change_catalog(next)?,
        }
        if let Changed::Rows(rewritten) = changed {
            rewritten.write(frame, transaction, table.id).await?;
        }
        index_columns::follow_columns(transaction, id)?;
        if let AlterOperation::DropColumn { name, cascade, .. } = operation {
            identity::drop_sequence(frame, transaction, &table, name, *cascade)?;
        }
        if let AlterOperation::AddColumn { column, .. } = operation {
            add_keys_of(frame, transaction, id, column).await?;
        }
    }
    Ok(())
}

/// Refuses USING of a column that is changed before in the same statement: it would see the new column.
fn refuse_changed(operations: &[AlterOperation]) -> Result<()> {
    for (at, operation) in operations.iter().enumerate() {
        let AlterOperation::SetType { using: Some(using), .. } = operation else { continue };
        let Some(names) = Names::of(&format!("SELECT {using}")) else { continue };
        let is_named = |column: &String| {
            let mut named = names.columns.iter();
            named.any(|(name, is_all)| *is_all || name.parts.contains(column))
        };
        let mut changed = operations[..at].iter().filter_map(|before| match before {
            AlterOperation::SetType { column: name, .. }
            | AlterOperation::DropColumn { name, .. } => Some(name),
            _ => None,
        });
        if let Some(column) = changed.find(|column| is_named(column)) {
            let message = format!("USING of the column \"{column}\", which the statement changes");
            return Err(Error::unsupported(format!("{message}, is not supported"))
                .with_hint("Change the columns in statements of their own."));
        }
    }
    Ok(())
}

/// Refuses to change the columns of a table of a composite type.
///
/// # Errors
/// 42809.
fn refuse_typed(
    transaction: &DistributedTransaction,
    table: TableId,
    operation: &AlterOperation,
) -> Result<()> {
    let what = match operation {
        AlterOperation::AddColumn { .. } => "add column to",
        AlterOperation::DropColumn { .. } => "drop column from",
        AlterOperation::SetType { .. } => "alter column type of",
        _ => return Ok(()),
    };
    transaction.catalog().table_by_id(table).map_or(Ok(()), |table| typed::refuse(table, what))
}

/// Adds the constraints that a new column is declared with.
async fn add_keys_of(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    column: &ColumnDefinition,
) -> Result<()> {
    if let Some(key) = &column.key {
        primary_key::add(frame, transaction, table, key).await?;
    }
    for unique in &column.unique {
        match unique.is_primary {
            true => primary_key::add_deferrable(frame, transaction, table, unique).await?,
            false => index::add_unique(frame, transaction, table, unique).await?,
        }
    }
    for written in &column.references {
        foreign_keys::add(frame, transaction, table, written, false).await?;
    }
    Ok(())
}

/// Applies an operation on a UNIQUE or FOREIGN KEY constraint. Returns whether it is one.
async fn changes_keys(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    operation: &AlterOperation,
) -> Result<bool> {
    match operation {
        AlterOperation::AddConstraint(TableConstraint::Unique(key)) if key.is_primary => {
            primary_key::add_deferrable(frame, transaction, table, key).await?;
        }
        AlterOperation::AddConstraint(TableConstraint::Unique(unique)) => {
            index::add_unique(frame, transaction, table, unique).await?;
        }
        AlterOperation::AddConstraint(TableConstraint::Existing(of)) => {
            existing_index::add(frame, transaction, table, of).await?;
        }
        AlterOperation::AddConstraint(TableConstraint::PrimaryKey(key)) => {
            primary_key::add(frame, transaction, table, key).await?;
        }
        AlterOperation::AddConstraint(TableConstraint::ForeignKey(written)) => {
            foreign_keys::add(frame, transaction, table, written, false).await?;
        }
        AlterOperation::AlterConstraint { name, is_deferrable, is_deferred } => {
            integrity::alter(transaction, table, name, (*is_deferrable, *is_deferred))?;
        }
        AlterOperation::SwitchTriggers(switch) => {
            triggers::switch(transaction, table, switch)?;
        }
        AlterOperation::ValidateConstraint(name) => {
            let Some(key) = integrity::named(transaction.catalog(), table, name) else {
                return Ok(false);
            };
            integrity::make_valid(frame, transaction, table, &key).await?;
        }
        AlterOperation::DropConstraint { name, cascade, .. } => {
            if integrity::named(transaction.catalog(), table, name).is_some() {
                integrity::drop(transaction, table, name)?;
                return Ok(true);
            }
            let of = transaction.catalog().table_by_id(table);
            if let Some(of) = of.filter(|of| of.is_key_name(name)) {
                let key = format!("constraint {name} on table {}", of.name);
                let dropped = integrity::drop_key(frame, transaction, table, *cascade).await?;
                foreign_keys::tell(frame, dropped);
                let id = table.relation();
                dependents::drop_grouped(frame, transaction, id, &key, *cascade).await?;
                return Ok(true);
            }
            let Some(found) = index::of_constraint(transaction, table, name) else {
                return Ok(false);
            };
            index::drop_with_dependents(frame, transaction, &found, *cascade)?;
        }
        AlterOperation::DropColumn { name, cascade, .. } => {
            foreign_keys::drop_of_column(frame, transaction, table, name, *cascade)?;
            triggers::drop_with_column(frame, transaction, table, name, *cascade)?;
            let of = transaction.catalog().table_by_id(table);
            if of.is_some_and(|of| of.column(name).is_some_and(|(_, c)| is_in_own_key(of, c))) {
                let dropped = integrity::drop_key(frame, transaction, table, *cascade).await?;
                foreign_keys::tell(frame, dropped);
            }
            return Ok(false);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Whether a column is one of the primary key, and no row id.
fn is_in_own_key(table: &Table, column: &Column) -> bool {
    table.key.contains(&column.id) && !column.hidden
}

/// The effect of an operation.
enum Changed {
    Nothing,
    /// The definition only.
    Definition,
    /// The definition and all rows.
    Rows(Rewritten),
}

impl Changed {
    /// Whether the definition has changed.
    fn of(definition: bool) -> Self {
        if definition { Self::Definition } else { Self::Nothing }
    }
}

/// Applies an operation to the definition.
async fn change(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &mut Table,
    operation: &AlterOperation,
) -> Result<Changed> {
    match operation {
        AlterOperation::SetOf(of) => {
            let users = frame.types(transaction.catalog());
            typed::change(table, of.as_ref(), &users, frame.text)?;
        }
        AlterOperation::AddColumn { column, if_not_exists } => {
            if *if_not_exists && table.column(&column.name).is_some() {
                let what = format!("column \"{}\" of relation", column.name);
                frame.skip_existing(SqlState::DuplicateColumn, &what, &table.name);
                return Ok(Changed::Nothing);
            }
            return add_column_to_rows(frame, transaction, table, column).await;
        }
        AlterOperation::DropColumn { name, if_exists, cascade } => {
            if *if_exists && table.column(name).is_none() {
                frame.skip_missing(&format!("column \"{name}\" of relation"), &table.name);
                return Ok(Changed::Nothing);
            }
            drop_used(frame, transaction, table, name, *cascade).await?;
        }
        AlterOperation::SetType { column, data_type, using } => {
            let column = declared_column(table, column)?;
            let using = using.as_deref();
            let rewritten =
                alter_type::change(frame, transaction, table, column, data_type, using).await?;
            return Ok(rewritten.map_or(Changed::Nothing, Changed::Rows));
        }
        AlterOperation::SetDefault { column, value } => {
            let column = declared_column(table, column)?;
            set_default(frame, transaction, table, column, value.as_deref())?;
        }
        AlterOperation::SetNullable { column, is_nullable } => {
            let column = declared_column(table, column)?;
            set_nullable(frame, transaction, table, column, *is_nullable).await?;
        }
        AlterOperation::DropExpression { column, if_exists } => {
            return drop_expression(frame, table, column, *if_exists);
        }
        AlterOperation::AddConstraint(TableConstraint::Check(check)) => {
            checks::add_to_rows(frame, transaction, table, check.clone()).await?;
        }
        AlterOperation::ValidateConstraint(name) => {
            return checks::validate(frame, transaction, table, name).await.map(Changed::of);
        }
        AlterOperation::Identity { column, change } => {
            return identity::change(frame, transaction, table, (column, change)).map(Changed::of);
        }
        // By `changes_keys`, and by `alter_view`.
        AlterOperation::AddConstraint(_)
        | AlterOperation::AlterConstraint { .. }
        | AlterOperation::SwitchTriggers(_)
        | AlterOperation::SetStorage
        | AlterOperation::SetViewOptions(_) => {}
        AlterOperation::DropConstraint { name, if_exists, .. } => {
            if !checks::remove(table, name, *if_exists)? {
                let what = format!("constraint \"{name}\" of relation");
                frame.skip_missing(&what, &table.name);
                return Ok(Changed::Nothing);
            }
        }
    }
    Ok(Changed::Definition)
}

/// Makes a generated column a plain one, which keeps its values.
fn drop_expression(
    frame: &Frame<'_>,
    table: &mut Table,
    column: &str,
    if_exists: bool,
) -> Result<Changed> {
    let at = declared_column(table, column)?;
    if table.columns[at].generated.take().is_some() {
        return Ok(Changed::Definition);
    }
    let of = &table.name;
    let message =
        format!("column \"{column}\" of relation \"{of}\" is not a stored generated column");
    if !if_exists {
        return Err(Error::new(SqlState::ObjectNotInPrerequisiteState, message));
    }
    frame.session.notice(SqlState::SuccessfulCompletion, format!("{message}, skipping"));
    Ok(Changed::Nothing)
}

/// Adds a column, and checks and computes the rows.
async fn add_column_to_rows(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &mut Table,
    column: &ColumnDefinition,
) -> Result<Changed> {
    // Of rows on other servers, nobody knows how many there are.
    let count = transaction.table(table.id).and_then(|view| view.row_count());
    let is_empty = match count {
        Some(count) => count == 0,
        None => !checks::is_any_row(frame, transaction, table, "true").await?,
    };
    let added = add_column(frame, transaction, table, (column, is_empty))?;
    if added.is_computed || added.has_checks {
        generated::refuse_bad(&frame.planner(transaction), table)?;
        let rewritten = alter_type::compute(frame, transaction, table).await?;
        if added.is_computed {
            return Ok(Changed::Rows(rewritten));
        }
    }
    Ok(Changed::Definition)
}

/// Drops a column; with CASCADE also the columns that are computed from it, and the views that use them.
async fn drop_used(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &mut Table,
    name: &str,
    cascade: bool,
) -> Result<()> {
    let mut names = Vec::new();
    while let Some(computed) = generated::computed_from(table, name).filter(|_| cascade) {
        let computed = computed.name.clone();
        drop_column(table, &computed)?;
        names.push(computed);
    }
    drop_column(table, name)?;
    for name in names.iter().map(String::as_str).chain([name]) {
        dependents::drop_of_column(frame, transaction, (&*table, name), cascade).await?;
    }
    Ok(())
}

/// A column that was added.
struct Added {
    /// Whether each row has a value of its own.
    is_computed: bool,
    /// Whether existing rows must fulfil conditions.
    has_checks: bool,
}

/// Adds a column, and its sequence. Existing rows get the current value of its default without being rewritten, unless each
/// has its own.
///
/// # Errors
/// 42701 if the name is taken; 23502 if existing rows would have NULL in a NOT NULL column.
fn add_column(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &mut Table,
    (definition, is_empty): (&ColumnDefinition, bool),
) -> Result<Added> {
    let users = frame.types(transaction.catalog());
    let column = define(table.next_column, definition, &users, frame.text)?;
    refuse_taken(table, &column.name)?;
    let is_key = definition.key.is_some() || definition.unique.iter().any(|of| of.is_primary);
    let has_key =
        !table.has_hidden_key() || transaction.catalog().deferrable_key(table.id).is_some();
    if is_key && has_key {
        return Err(primary_key::second(table));
    }
    let at = table.columns.len();
    table.columns.push(column);
    table.next_column += 1;
    if has_sequence(definition) {
        identity::add_sequence(frame, transaction, table, at, &definition.sequence)?;
    }
    let mut is_computed = table.columns[at].generated.is_some();
    if table.columns[at].default.is_some() {
        let planner = frame.planner(transaction);
        let default = DefaultValue::of(&planner, table, at)?;
        is_computed |= default.is_volatile;
        if !default.is_volatile {
            let value = assign(&default.values(1)?, &table.columns[at], planner.style())?;
            table.columns[at].missing = Some(value);
        }
    }
    let column = &table.columns[at];
    let missing_is_null =
        !is_computed && column.missing.as_ref().is_none_or(|value| value.is_null(0));
    if !column.nullable && missing_is_null && !is_empty {
        return Err(contains_null(table, &column.name).with_hint("Give the column a DEFAULT."));
    }
    let is_domain = column.sql_type.user_type().is_some_and(|user| user.domain().is_some());
    let has_checks = is_domain || !definition.checks.is_empty();
    definition.checks.iter().try_for_each(|check| checks::add(table, check.clone()))?;
    Ok(Added { is_computed, has_checks })
}

pub(super) fn drop_column(table: &mut Table, name: &str) -> Result<()> {
    let index = declared_column(table, name)?;
    if let Some(computed) = generated::computed_from(table, name) {
        let (table, other) = (&table.name, &computed.name);
        let detail = format!("column {other} of table {table} depends on column {name}");
        return Err(dependents::needed(&format!("column {name} of table {table}"), detail)
            .with_hint(format!("Drop column {other} first.")));
    }
    // Checks and foreign keys of the column go with it.
    let id = table.columns[index].id;
    table.foreign_keys.retain(|key| !key.columns.contains(&id));
    table.checks.retain(|check| !mentions(&check.expression, name));
    table.columns.remove(index);
    Ok(())
}

fn set_default(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    column: usize,
    value: Option<&str>,
) -> Result<()> {
    if table.columns[column].generated.is_some() {
        let (name, table) = (&table.columns[column].name, &table.name);
        let message = format!("column \"{name}\" of relation \"{table}\" is a generated column");
        return Err(Error::new(SqlState::SyntaxError, message));
    }
    if table.columns[column].identity.is_some() {
        let (name, table) = (&table.columns[column].name, &table.name);
        let message = format!("column \"{name}\" of relation \"{table}\" is an identity column");
        return Err(Error::new(SqlState::SyntaxError, message));
    }
    table.columns[column].default = value.map(str::to_owned);
    if value.is_some() {
        DefaultValue::of(&frame.planner(transaction), table, column)?;
    }
    Ok(())
}

async fn set_nullable(
    frame: &Frame<'_>,
    transaction: &DistributedTransaction,
    table: &mut Table,
    column: usize,
    is_nullable: bool,
) -> Result<()> {
    if !is_nullable {
        refuse_nulls(frame, transaction, table, column).await?;
    } else if table.columns[column].identity.is_some() {
        let (name, of) = (&table.columns[column].name, &table.name);
        let message = format!("column \"{name}\" of relation \"{of}\" is an identity column");
        return Err(Error::new(SqlState::SyntaxError, message));
    } else if is_in_key(transaction, table, column) {
        let message = format!("column \"{}\" is in a primary key", table.columns[column].name);
        return Err(Error::new(SqlState::InvalidTableDefinition, message));
    }
    table.columns[column].nullable = is_nullable;
    Ok(())
}

/// Whether a column is in the primary key.
fn is_in_key(transaction: &DistributedTransaction, table: &Table, column: usize) -> bool {
    let id = table.columns[column].id;
    let deferrable = transaction.catalog().deferrable_key(table.id);
    table.key.contains(&id) || deferrable.is_some_and(|key| key.inputs().any(|column| column == id))
}
