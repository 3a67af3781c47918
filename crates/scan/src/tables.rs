//! The source of a statement's tables: a snapshot, or a transaction with its own writes.

use std::sync::Arc;
use store::catalog::{Catalog, TableId};
use store::{DistributedTransaction, Reading, Snapshot, TableView};

/// The source of a statement's tables.
pub trait Tables: Send + Sync {
    /// The catalog in which names are looked up.
    fn catalog(&self) -> &Arc<Catalog>;
    /// A table as the statement sees it; `None` if there is no such table.
    fn table(&self, id: TableId) -> Option<TableView>;
    /// The source, to be kept; `None` if it is none of statements.
    fn reading(&self) -> Option<Reading> {
        None
    }
}

/// Only the rows of this server: for looking at definitions.
impl Tables for Snapshot {
    fn catalog(&self) -> &Arc<Catalog> {
        Snapshot::catalog(self)
    }

    fn table(&self, id: TableId) -> Option<TableView> {
        Snapshot::table(self, id)
    }
}

impl Tables for Reading {
    fn catalog(&self) -> &Arc<Catalog> {
        Reading::catalog(self)
    }

    fn table(&self, id: TableId) -> Option<TableView> {
        Reading::table(self, id)
    }

    fn reading(&self) -> Option<Reading> {
        Some(self.clone())
    }
}

impl Tables for DistributedTransaction {
    fn catalog(&self) -> &Arc<Catalog> {
        DistributedTransaction::catalog(self)
    }

    fn table(&self, id: TableId) -> Option<TableView> {
        DistributedTransaction::table(self, id)
    }

    fn reading(&self) -> Option<Reading> {
        Some(DistributedTransaction::reading(self))
    }
}
