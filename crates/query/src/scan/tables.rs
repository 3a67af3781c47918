//! Where a statement reads tables: what is committed at a snapshot, or a transaction with its own writes.

use std::sync::Arc;
use store::catalog::{Catalog, TableId};
use store::{DistributedTransaction, Reading, Snapshot, TableView};

/// Where a statement reads: what is committed, or a transaction with its own writes.
pub(crate) trait Tables: Send + Sync {
    /// The catalog that names are looked up in.
    fn catalog(&self) -> &Arc<Catalog>;
    /// A table as the statement sees it.
    fn table(&self, id: TableId) -> Option<TableView>;
}

/// This server's alone: for looking at definitions.
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
}

impl Tables for DistributedTransaction {
    fn catalog(&self) -> &Arc<Catalog> {
        DistributedTransaction::catalog(self)
    }

    fn table(&self, id: TableId) -> Option<TableView> {
        DistributedTransaction::table(self, id)
    }
}
