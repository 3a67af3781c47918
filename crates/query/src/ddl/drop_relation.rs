//! Drops a table, view or sequence with what depends on it.

use super::dependents::{self, drop_with_owned};
use super::in_use::refuse_in_use;
use super::{foreign_keys, functions, uses};
use crate::context::Frame;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{ForeignKey, Relation, Sequence, Table};
use values::error::Result;

/// Drops a table, view or sequence, and with CASCADE what depends on it. `goes` finds the tables that are dropped with it.
pub(super) fn drop_one(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    relation: &Relation,
    cascade: bool,
    goes: &dyn Fn(&Table) -> bool,
) -> Result<()> {
    // Cursors name views that go first.
    let in_use = refuse_in_use(frame, transaction, relation, "DROP TABLE");
    dependents::drop_views(frame, transaction, relation, cascade)?;
    functions::drop_with_table(frame, transaction, relation, cascade)?;
    let catalog = Arc::clone(transaction.catalog());
    for other in catalog.relations() {
        let Some(sequence) = is_dropped_with(other, relation) else { continue };
        dependents::drop_views(frame, transaction, other, cascade)?;
        uses::drop_of_sequence(frame, transaction, sequence, cascade, goes)?;
    }
    if let Relation::Table(table) = relation {
        let what = format!("table {}", table.name);
        let depends = |of: &Table, _: &ForeignKey| !goes(of);
        let (id, names) = (table.id, (&*what, &*what));
        foreign_keys::drop_dependents(frame, transaction, id, names, cascade, depends)?;
        in_use?;
    }
    drop_with_owned(transaction, &catalog, relation)
}

/// A sequence that is dropped with a relation: it is the relation, or a column of it owns the sequence.
fn is_dropped_with<'a>(other: &'a Relation, relation: &Relation) -> Option<&'a Sequence> {
    let Relation::Sequence(sequence) = other else { return None };
    let is_owned = sequence.owned_by.is_some_and(|(table, _)| table.relation() == relation.id());
    (is_owned || sequence.id == relation.id()).then_some(&**sequence)
}
