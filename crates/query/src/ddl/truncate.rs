//! TRUNCATE.

use crate::context::Frame;
use crate::dml::named_target;
use parser::commands::Truncate;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{CatalogChange, Object, Privileges, Relation, Sequence, TableId};
use values::error::Result;

/// Runs a TRUNCATE.
pub(crate) fn run(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    truncate: &Truncate,
) -> Result<()> {
    for name in &truncate.names {
        let table = named_target(frame, transaction, name, Privileges::TRUNCATE)?;
        transaction.truncate(table.id)?;
        if truncate.restarts {
            restart_identity(frame, transaction, table.id)?;
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
