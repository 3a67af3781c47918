//! Changes of foreign keys that exist.

use crate::comparable_types::refuse_types;
use crate::settle::validate;
use crate::surroundings::Surroundings;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    Catalog, CatalogChange, ColumnId, ForeignKey, Relation, Table, TableId, Timing,
};
use values::error::{Error, Result, SqlState};

/// Puts a changed table into the catalog with another version: transactions that have written its
/// rows without knowing of the change fail.
///
/// # Errors
/// As of [`DistributedTransaction::change_catalog`].
pub(crate) fn with_version(
    transaction: &mut DistributedTransaction,
    table: TableId,
    change: impl FnOnce(&mut Table),
) -> Result<()> {
    let Some(table) = transaction.catalog().table_by_id(table) else { return Ok(()) };
    let mut next = Table::clone(table);
    change(&mut next);
    next.version += 1;
    transaction.change_catalog(CatalogChange::Replace(Relation::Table(Arc::new(next))))?;
    Ok(())
}

/// Changes a foreign key of a table, which refers to another one. Transactions that have written rows
/// of either without knowing of it fail.
///
/// # Errors
/// As of [`DistributedTransaction::change_catalog`].
pub fn put(
    transaction: &mut DistributedTransaction,
    table: TableId,
    references: TableId,
    change: impl FnOnce(&mut Table),
) -> Result<()> {
    with_version(transaction, table, change)?;
    if references != table {
        with_version(transaction, references, |_| {})?;
    }
    Ok(())
}

/// The foreign keys that a column of a table is part of, on either side, with the tables that have them.
fn keys_with(catalog: &Catalog, table: TableId, column: ColumnId) -> Vec<(Arc<Table>, ForeignKey)> {
    let own = catalog.table_by_id(table).into_iter().flat_map(|of| {
        let keys = of.foreign_keys.iter().filter(move |key| key.columns.contains(&column));
        keys.map(move |key| (of, key))
    });
    let referring = catalog.references_to(table);
    let referring = referring.filter(move |(_, key)| key.referenced.contains(&column));
    own.chain(referring).map(|(of, key)| (Arc::clone(of), key.clone())).collect()
}

/// Makes foreign keys follow a column of a table that was replaced by another one.
///
/// # Errors
/// As of [`DistributedTransaction::change_catalog`].
pub fn follow_type(
    transaction: &mut DistributedTransaction,
    table: TableId,
    (old, new): (ColumnId, ColumnId),
) -> Result<()> {
    let follow = |ids: &mut Vec<ColumnId>| {
        ids.iter_mut().filter(|id| **id == old).for_each(|id| *id = new);
    };
    for (of, key) in keys_with(transaction.catalog(), table, old) {
        put(transaction, of.id, key.references, |next| {
            for key in &mut next.foreign_keys {
                if of.id == table {
                    follow(&mut key.columns);
                    follow(&mut key.on_delete_set);
                }
                if key.references == table {
                    follow(&mut key.referenced);
                }
            }
        })?;
    }
    Ok(())
}

/// Checks the foreign keys of a column whose type has changed.
///
/// # Errors
/// 42804 if its values cannot be compared any more; 23503 if a row violates one.
pub async fn check_type(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    table: TableId,
    column: ColumnId,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    for (of, key) in keys_with(&catalog, table, column) {
        let Some(referenced) = catalog.table_by_id(key.references) else { continue };
        for (column, target) in key.columns.iter().zip(&key.referenced) {
            refuse_types((&of, *column), (referenced, *target), &key.name)?;
        }
        if key.is_valid {
            validate(surroundings, transaction, &of, &key).await?;
        }
    }
    Ok(())
}

/// Returns the foreign key of a table with a name.
pub fn named(catalog: &Catalog, table: TableId, name: &str) -> Option<ForeignKey> {
    let table = catalog.table_by_id(table)?;
    table.foreign_keys.iter().find(|key| key.name == name).cloned()
}

/// Sets the comment of a constraint of a table; `None` removes it.
///
/// # Errors
/// 42704 if the table has no such constraint; 0A000 for constraint triggers.
pub fn comment(
    transaction: &mut DistributedTransaction,
    table: &Table,
    name: &str,
    comment: Option<String>,
) -> Result<()> {
    let catalog = transaction.catalog();
    if catalog.has_constraint(table, name) {
        return with_version(transaction, table.id, |next| {
            next.set_constraint_comment(name, comment);
        });
    }
    let mut triggers = catalog.triggers_of(table.id).iter();
    if triggers.any(|trigger| trigger.constraint.is_some() && trigger.name == name) {
        let message = "COMMENT ON CONSTRAINT of a constraint trigger is not supported";
        return Err(Error::unsupported(message).with_hint("Use COMMENT ON TRIGGER."));
    }
    let message = format!("constraint \"{name}\" for table \"{}\" does not exist", table.name);
    Err(Error::new(SqlState::UndefinedObject, message))
}

/// Drops a foreign key.
///
/// # Errors
/// As of [`DistributedTransaction::change_catalog`].
pub fn drop(transaction: &mut DistributedTransaction, table: TableId, name: &str) -> Result<()> {
    with_version(transaction, table, |next| next.foreign_keys.retain(|key| key.name != name))
}

/// VALIDATE CONSTRAINT of a foreign key.
///
/// # Errors
/// 23503 if a row violates it.
pub async fn make_valid(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    table: TableId,
    key: &ForeignKey,
) -> Result<()> {
    let Some(table) = transaction.catalog().table_by_id(table).cloned() else { return Ok(()) };
    if key.is_valid {
        return Ok(());
    }
    validate(surroundings, transaction, &table, key).await?;
    put(transaction, table.id, key.references, |next| {
        let known = next.foreign_keys.iter_mut().filter(|known| known.name == key.name);
        known.for_each(|known| known.is_valid = true);
    })
}

/// ALTER CONSTRAINT: whether it is deferrable, and initially deferred.
///
/// # Errors
/// 42704 if there is no such foreign key; 42809 if it is another constraint.
pub fn alter(
    transaction: &mut DistributedTransaction,
    table: TableId,
    name: &str,
    (is_deferrable, is_deferred): (bool, bool),
) -> Result<()> {
    let Some(of) = transaction.catalog().table_by_id(table) else { return Ok(()) };
    if named(transaction.catalog(), table, name).is_none() {
        let (state, what) = match of.checks.iter().any(|check| check.name == name) {
            true => (SqlState::WrongObjectType, "is not a foreign key constraint"),
            false => (SqlState::UndefinedObject, "does not exist"),
        };
        let message = format!("constraint \"{name}\" of relation \"{}\" {what}", of.name);
        return Err(Error::new(state, message));
    }
    let timing = timing(is_deferrable, is_deferred);
    with_version(transaction, table, |next| {
        let known = next.foreign_keys.iter_mut().filter(|known| known.name == name);
        known.for_each(|known| known.timing = timing);
    })
}

/// When a constraint with these attributes is checked.
pub fn timing(is_deferrable: bool, is_deferred: bool) -> Timing {
    match (is_deferrable, is_deferred) {
        (_, true) => Timing::InitiallyDeferred,
        (true, false) => Timing::InitiallyImmediate,
        (false, false) => Timing::NotDeferrable,
    }
}

/// Returns the deferrable constraints of a name in the first of some schemas that has any.
///
/// # Errors
/// 42704 if there is none; 42809 if one is not deferrable.
pub fn deferrable(
    catalog: &Catalog,
    schemas: &[&str],
    name: &str,
) -> Result<Vec<(TableId, String)>> {
    for schema in schemas {
        let mut found = Vec::new();
        for relation in catalog.relations_in(schema) {
            let Relation::Table(table) = relation else { continue };
            for key in table.foreign_keys.iter().filter(|key| key.name == name) {
                if key.timing == Timing::NotDeferrable {
                    let message = format!("constraint \"{name}\" is not deferrable");
                    return Err(Error::new(SqlState::WrongObjectType, message));
                }
                found.push((table.id, key.name.clone()));
            }
            let is_key = table.is_key_name(name);
            let mut others = table.checks.iter().map(|check| &check.name);
            let unique = catalog
                .indexes_of(table.id)
                .iter()
                .find(|index| index.is_constraint && index.file.name == name);
            if unique.is_some_and(|index| index.is_deferrable()) {
                found.push((table.id, name.to_owned()));
            } else if is_key || unique.is_some() || others.any(|other| other == name) {
                let message = format!("constraint \"{name}\" is not deferrable");
                return Err(Error::new(SqlState::WrongObjectType, message));
            }
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let message = format!("constraint \"{name}\" does not exist");
    Err(Error::new(SqlState::UndefinedObject, message))
}
