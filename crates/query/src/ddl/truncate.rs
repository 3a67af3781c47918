//! TRUNCATE.

use super::in_use::refuse_in_use;
use crate::context::Frame;
use crate::dml::named_target;
use crate::triggers::Firing;
use parser::commands::Truncate;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{
    CatalogChange, Object, Privileges, Relation, Sequence, Table, TableId, TriggerEvent,
};
use values::error::{Error, Result, SqlState};

/// Runs a TRUNCATE.
pub(crate) async fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    truncate: &Truncate,
) -> Result<()> {
    let mut tables = Vec::with_capacity(truncate.names.len());
    for name in &truncate.names {
        let table = named_target(frame, transaction, name, Privileges::TRUNCATE)?;
        let relation = Relation::Table(Arc::clone(&table));
        refuse_in_use(frame, transaction, &relation, "TRUNCATE")?;
        tables.push(table);
    }
    add_referring(frame, transaction, &mut tables, truncate.cascade)?;
    let mut firings = Vec::new();
    for table in &tables {
        firings.extend(Firing::of(transaction.catalog(), table, TriggerEvent::Truncate, &[]));
    }
    for firing in &mut firings {
        firing.before_statement(frame, transaction).await?;
    }
    for table in tables {
        transaction.truncate(table.id)?;
        if truncate.restarts {
            restart_identity(frame, transaction, table.id)?;
        }
    }
    firings.iter().for_each(|firing| firing.after_statement(frame));
    Ok(())
}

/// Adds the tables that refer to those that are truncated, with CASCADE.
///
/// # Errors
/// 0A000 without CASCADE.
fn add_referring(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    tables: &mut Vec<Arc<Table>>,
    cascade: bool,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let mut next = 0;
    while let Some(table) = tables.get(next).cloned() {
        next += 1;
        for other in catalog.referring_to(table.id).iter().filter_map(|id| catalog.table_by_id(*id))
        {
            if tables.iter().any(|known| known.id == other.id) {
                continue;
            }
            let name = &other.name;
            if !cascade {
                let message = "cannot truncate a table referenced in a foreign key constraint";
                let detail = format!("Table \"{name}\" references \"{}\".", table.name);
                return Err(Error::unsupported(message).with_detail(detail).with_hint(format!(
                    "Truncate table \"{name}\" at the same time, or use TRUNCATE ... CASCADE."
                )));
            }
            let relation = Relation::Table(Arc::clone(other));
            frame.access(&catalog).require(&relation, Privileges::TRUNCATE)?;
            refuse_in_use(frame, transaction, &relation, "TRUNCATE")?;
            let message = format!("truncate cascades to table \"{name}\"");
            frame.session.notice(SqlState::SuccessfulCompletion, message);
            tables.push(Arc::clone(other));
        }
    }
    Ok(())
}

/// Replaces the sequences that columns of a table own by new ones, which begin at the start. A rollback keeps the old ones.
fn restart_identity(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: TableId,
) -> Result<()> {
    let catalog = Arc::clone(transaction.catalog());
    let owned = catalog.relations().filter_map(|relation| match relation {
        Relation::Sequence(sequence) => {
            sequence.owned_by.filter(|(owner, _)| *owner == table).map(|_| sequence)
        }
        _ => None,
    });
    for sequence in owned {
        replace_sequence(frame, transaction, sequence)?;
    }
    Ok(())
}

/// Replaces a sequence by a new one of its name, which begins at the start.
pub(super) fn replace_sequence(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    sequence: &Sequence,
) -> Result<Arc<Sequence>> {
    let catalog = Arc::clone(transaction.catalog());
    let id = frame.session.shared.store.next_relation_id();
    let new = Arc::new(Sequence { id, ..Sequence::clone(sequence) });
    let (old, object) = (Object::Relation(sequence.id), Object::Relation(id));
    transaction.change_catalog(CatalogChange::Drop(sequence.id))?;
    transaction.change_catalog(CatalogChange::Create(Relation::Sequence(Arc::clone(&new))))?;
    for role in catalog.roles().chain(std::iter::once(catalog.public())) {
        let privileges = role.privileges(&old);
        if privileges != Privileges::default() {
            let (role, object) = (role.name.clone(), object.clone());
            let granted = CatalogChange::SetPrivileges { role, object, privileges };
            transaction.change_catalog(granted)?;
        }
    }
    Ok(new)
}
