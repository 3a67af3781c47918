//! Definitions of foreign keys.

use crate::changing::{timing, with_version};
use crate::comparable_types::refuse_types;
use crate::unique;
use parser::commands::{self, ForeignKeyDefinition};
use std::collections::HashSet;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, ColumnId, ForeignKey, Index, ReferentialAction, SYSTEM_COLUMNS, Table, TableId,
};
use values::error::{Error, Result, SqlState};

/// A foreign key as it is written, with what its names mean.
pub struct Wanted<'a> {
    /// Its table.
    pub table: &'a Table,
    /// The table that it refers to.
    pub referenced: &'a Table,
    /// As written.
    pub written: &'a ForeignKeyDefinition,
    /// Its name.
    pub name: String,
}

/// Defines a foreign key.
///
/// # Errors
/// 42703, 42704, 42830 and 42804, as in PostgreSQL.
pub fn define(catalog: &Catalog, wanted: &Wanted<'_>) -> Result<ForeignKey> {
    let Wanted { table, referenced, written, name } = wanted;
    refuse_mixed_persistence(table, referenced)?;
    let columns = ids(table, &written.columns)?;
    let (targets, index) = if written.referenced.is_empty() {
        if catalog.deferrable_key(referenced.id).is_some() {
            return Err(unique::is_deferrable(format!(
                "cannot use a deferrable primary key for referenced table \"{}\"",
                referenced.name
            )));
        }
        if referenced.has_hidden_key() {
            let message =
                format!("there is no primary key for referenced table \"{}\"", referenced.name);
            return Err(Error::new(SqlState::UndefinedObject, message));
        }
        (referenced.key.clone(), None)
    } else {
        let targets = ids(referenced, &written.referenced)?;
        let index = unique_index(catalog, referenced, &targets)?;
        (targets, index)
    };
    if columns.len() != targets.len() {
        let message = "number of referencing and referenced columns for foreign key disagree";
        return Err(Error::new(SqlState::InvalidForeignKey, message));
    }
    for (column, target) in columns.iter().zip(&targets) {
        refuse_types((table, *column), (referenced, *target), name)?;
    }
    let (on_delete, on_update) = (action(written.on_delete), action(written.on_update));
    refuse_generated(table, &columns, on_delete, on_update)?;
    Ok(ForeignKey {
        name: name.clone(),
        references: referenced.id,
        referenced: targets,
        index,
        on_delete,
        on_update,
        on_delete_set: set_columns(table, &columns, &written.set_columns)?,
        columns,
        is_full: written.is_full,
        timing: timing(written.is_deferrable, written.is_deferred),
        is_valid: written.is_valid,
    })
}

fn action(written: commands::ReferentialAction) -> ReferentialAction {
    match written {
        commands::ReferentialAction::NoAction => ReferentialAction::NoAction,
        commands::ReferentialAction::Restrict => ReferentialAction::Restrict,
        commands::ReferentialAction::Cascade => ReferentialAction::Cascade,
        commands::ReferentialAction::SetNull => ReferentialAction::SetNull,
        commands::ReferentialAction::SetDefault => ReferentialAction::SetDefault,
    }
}

fn refuse_mixed_persistence(table: &Table, referenced: &Table) -> Result<()> {
    let is_temporary = |of: &Table| store::catalog::is_temporary_schema(&of.schema);
    let (what, others) = match (is_temporary(table), is_temporary(referenced)) {
        (false, true) if table.is_unlogged => ("unlogged", "permanent or unlogged"),
        (false, true) => ("permanent", "permanent"),
        (true, false) => ("temporary", "temporary"),
        _ if referenced.is_unlogged && !table.is_unlogged => ("permanent", "permanent"),
        _ => return Ok(()),
    };
    let message = format!("constraints on {what} tables may reference only {others} tables");
    Err(Error::new(SqlState::InvalidTableDefinition, message))
}

/// The columns of a table with some names.
fn ids(table: &Table, names: &[String]) -> Result<Vec<ColumnId>> {
    let id = |name: &String| match table.column(name) {
        Some((_, column)) if !column.hidden => Ok(column.id),
        _ if SYSTEM_COLUMNS.contains(&name.as_str()) => {
            Err(Error::unsupported("system columns cannot be used in foreign keys"))
        }
        _ => {
            let message =
                format!("column \"{name}\" referenced in foreign key constraint does not exist");
            Err(Error::new(SqlState::UndefinedColumn, message))
        }
    };
    names.iter().map(id).collect()
}

/// The unique index of columns; `None` if they are the primary key.
fn unique_index(catalog: &Catalog, table: &Table, columns: &[ColumnId]) -> Result<Option<TableId>> {
    let wanted: HashSet<ColumnId> = columns.iter().copied().collect();
    if wanted.len() < columns.len() {
        let message = "foreign key referenced-columns list must not contain duplicates";
        return Err(Error::new(SqlState::InvalidForeignKey, message));
    }
    if !table.has_hidden_key() && wanted == table.key.iter().copied().collect() {
        return Ok(None);
    }
    let mut indexes = catalog.indexes_of(table.id).iter();
    let is_deferrable = |index: &&Arc<Index>| index.is_deferrable();
    let of_columns = |index: &&Arc<Index>| is_unique_index_of(index, &wanted);
    let (deferrable, enforced): (Vec<_>, Vec<_>) =
        indexes.by_ref().filter(of_columns).partition(is_deferrable);
    match (enforced.first(), deferrable.first()) {
        (Some(index), _) => Ok(Some(index.file.id)),
        (None, Some(_)) => Err(unique::is_deferrable(format!(
            "cannot use a deferrable unique constraint for referenced table \"{}\"",
            table.name
        ))),
        (None, None) => {
            let message = format!(
                "there is no unique constraint matching given keys for referenced table \"{}\"",
                table.name
            );
            Err(Error::new(SqlState::InvalidForeignKey, message))
        }
    }
}

/// Whether an index makes the values of columns unique, in all rows.
fn is_unique_index_of(index: &Index, columns: &HashSet<ColumnId>) -> bool {
    let parts = index.columns.iter().map(|column| column.key.column());
    let of: Option<HashSet<ColumnId>> = parts.collect();
    index.is_unique && index.predicate.is_none() && of.as_ref() == Some(columns)
}

fn refuse_generated(
    table: &Table,
    columns: &[ColumnId],
    on_delete: ReferentialAction,
    on_update: ReferentialAction,
) -> Result<()> {
    let is_generated =
        |id: &ColumnId| table.position(*id).is_some_and(|at| table.columns[at].generated.is_some());
    if !columns.iter().any(is_generated) {
        return Ok(());
    }
    let sets = |of| matches!(of, ReferentialAction::SetNull | ReferentialAction::SetDefault);
    let when = match (on_delete, on_update) {
        (_, of) if sets(of) || of == ReferentialAction::Cascade => "UPDATE",
        (of, _) if sets(of) => "DELETE",
        _ => return Ok(()),
    };
    let message =
        format!("invalid ON {when} action for foreign key constraint containing generated column");
    Err(Error::new(SqlState::SyntaxError, message))
}

fn set_columns(table: &Table, columns: &[ColumnId], names: &[String]) -> Result<Vec<ColumnId>> {
    let mut set = ids(table, names)?;
    match set.iter().zip(names).find(|(id, _)| !columns.contains(id)) {
        None => {
            let mut seen = HashSet::new();
            set.retain(|id| seen.insert(*id));
            Ok(set)
        }
        Some((_, name)) => {
            let message = format!(
                "column \"{name}\" referenced in ON DELETE SET action must be part of foreign key"
            );
            Err(Error::new(SqlState::InvalidColumnReference, message))
        }
    }
}

/// Drops the foreign keys that depend on a table or a part of it, with CASCADE; returns their names
/// with those of their tables. `what` is dropped, and `on` is what they depend on: `table p`.
///
/// # Errors
/// 2BP01 without CASCADE.
pub fn refuse_dependents(
    transaction: &mut DistributedTransaction,
    table: TableId,
    (what, on): (&str, &str),
    cascade: bool,
    depends: impl Fn(&Table, &ForeignKey) -> bool,
) -> Result<Vec<String>> {
    let catalog = Arc::clone(transaction.catalog());
    let all = catalog.references_to(table).filter(|(of, key)| depends(of, key));
    let dependents: Vec<(&Arc<Table>, &ForeignKey)> = all.collect();
    let name = |(of, key): &(&Arc<Table>, &ForeignKey)| {
        format!("constraint {} on table {}", key.name, of.name)
    };
    let names: Vec<String> = dependents.iter().map(name).collect();
    if !cascade && !names.is_empty() {
        let message = format!("cannot drop {what} because other objects depend on it");
        let lines = names.iter().map(|name| format!("{name} depends on {on}"));
        return Err(Error::new(SqlState::DependentObjectsStillExist, message)
            .with_detail(lines.collect::<Vec<_>>().join("\n"))
            .with_hint("Use DROP ... CASCADE to drop the dependent objects too."));
    }
    for (of, key) in dependents {
        with_version(transaction, of.id, |next| {
            next.foreign_keys.retain(|other| other.name != key.name);
        })?;
    }
    Ok(names)
}
