//! What a transaction passes to the store to be committed.

use crate::Snapshot;
use crate::holds::Staging;
use crate::locking::Locker;
use crate::memory::Reservation;
use crate::write_set::WriteSet;
use catalog::{CatalogChange, TableId};
use std::collections::BTreeSet;

/// A request to commit a transaction.
#[derive(Debug)]
pub(crate) struct CommitRequest {
    pub(crate) snapshot: Snapshot,
    pub(crate) catalog_changes: Vec<CatalogChange>,
    pub(crate) writes: WriteSet,
    pub(crate) staging: Option<Staging>,
    /// The locks of the transaction; `None` if it does not lock what it writes.
    pub(crate) locker: Option<Locker>,
    /// The tables that must not have changed.
    pub(crate) reads: BTreeSet<TableId>,
    pub(crate) _reservation: Reservation,
}

impl CommitRequest {
    /// Whether a change of the catalog, one of the request, concerns other sessions too.
    pub(super) fn is_shared(&self, change: &CatalogChange) -> bool {
        !change.is_temporary(self.snapshot.catalog(), &self.catalog_changes)
    }
}
