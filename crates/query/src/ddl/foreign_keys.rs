//! FOREIGN KEY constraints in CREATE TABLE and ALTER TABLE, and SET CONSTRAINTS.

use crate::context::Frame;
use crate::triggers;
use catalog_views::relation_names::{find_named, missing_relation};
use integrity::Wanted;
use integrity::names::{of_foreign_key, refuse_taken};
use parser::commands::{ForeignKeyDefinition, RelationName, SetConstraints};
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, ForeignKey, Privileges, Relation, Table, TableId, Timing};
use values::error::{Error, Result, SqlState};

/// Adds a foreign key to a table. Rows of a new table need no check.
///
/// # Errors
/// As of [`integrity::define`]; 42710 for its name; 23503 if a row violates it.
pub(super) async fn add(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    written: &ForeignKeyDefinition,
    is_new: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let Some(table) = catalog.table_by_id(table) else { return Ok(()) };
    let relation = find_named(&catalog, frame.path(), &written.table)?;
    let relation =
        relation.ok_or_else(|| missing_relation(&catalog, frame.path(), &written.table))?;
    let Relation::Table(referenced) = relation else {
        let message = format!("referenced relation \"{}\" is not a table", relation.name());
        return Err(Error::new(SqlState::WrongObjectType, message));
    };
    frame.access(&catalog).require(relation, Privileges::REFERENCES)?;
    let name = match &written.name {
        Some(name) => name.clone(),
        None => of_foreign_key(&catalog, table, &written.columns),
    };
    refuse_taken(&catalog, table, &name, false)?;
    let mut key = integrity::define(&catalog, &Wanted { table, referenced, written, name })?;
    if is_new {
        key.is_valid = true;
    } else if key.is_valid {
        integrity::validate(frame, transaction, table, &key).await?;
    }
    integrity::put(transaction, table.id, key.references, |next| next.foreign_keys.push(key))
}

/// Refuses to drop what foreign keys depend on, or drops them with CASCADE.
///
/// # Errors
/// 2BP01.
pub(super) fn drop_dependents(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    names: (&str, &str),
    cascade: bool,
    depends: impl Fn(&Table, &ForeignKey) -> bool,
) -> Result<()> {
    let dropped = integrity::refuse_dependents(transaction, table, names, cascade, depends)?;
    tell(frame, dropped);
    Ok(())
}

/// Queues the notices of what CASCADE has dropped.
pub(super) fn tell(frame: &Frame<'_>, dropped: Vec<String>) {
    for dropped in dropped {
        let message = format!("drop cascades to {dropped}");
        frame.session.notice(SqlState::SuccessfulCompletion, message);
    }
}

/// Drops the foreign keys that refer to a column, with CASCADE.
///
/// # Errors
/// 2BP01 without CASCADE.
pub(super) fn drop_of_column(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
    name: &str,
    cascade: bool,
) -> Result<()> {
    let of = transaction.catalog().table_by_id(table);
    let found = of.and_then(|of| Some((of.name.clone(), of.column(name)?.1.id)));
    let Some((of, id)) = found else { return Ok(()) };
    let what = format!("column {name} of table {of}");
    let depends = |_: &Table, key: &ForeignKey| key.referenced.contains(&id);
    drop_dependents(frame, transaction, table, (&what, &what), cascade, depends)
}

/// SET CONSTRAINTS.
///
/// # Errors
/// 42704 for an unknown constraint; 42809 if it is not deferrable; 23503 for a violation.
pub(super) async fn set(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    statement: &SetConstraints,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let path = frame.path();
    let of_name = |name: &RelationName| {
        let schemas: Vec<&str> = match &name.schema {
            Some(schema) => vec![path.resolve(schema)],
            None => path.named().collect(),
        };
        match constraint_triggers(&catalog, &schemas, &name.name)? {
            found if found.is_empty() => integrity::deferrable(&catalog, &schemas, &name.name),
            found => Ok(found),
        }
    };
    let named = statement.names.as_ref().map(|names| {
        names.iter().map(of_name).collect::<Result<Vec<_>>>().map(|found| found.concat())
    });
    let named = named.transpose()?;
    let wait = statement.is_deferred;
    integrity::set_constraints(frame, transaction, named.as_deref(), wait).await?;
    triggers::fire_due(frame, transaction).await
}

/// The constraint triggers of a name in the first schema that has some.
///
/// # Errors
/// 42809 for one that is not deferrable.
fn constraint_triggers(
    catalog: &Catalog,
    schemas: &[&str],
    name: &str,
) -> Result<Vec<(TableId, String)>> {
    for schema in schemas {
        let mut found = Vec::new();
        for trigger in catalog.triggers().filter(|of| of.name == name) {
            let table = catalog.table_by_id(trigger.table);
            let Some(timing) = trigger.constraint else { continue };
            if table.is_none_or(|table| table.schema != *schema) {
                continue;
            }
            if timing == Timing::NotDeferrable {
                let message = format!("constraint \"{name}\" is not deferrable");
                return Err(Error::new(SqlState::WrongObjectType, message));
            }
            found.push((trigger.table, trigger.name.clone()));
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}
