//! What a transaction reads on one server.

use super::TableView;
use crate::Snapshot;
use crate::peers::{Peers, Reader};
use crate::write_set::WriteSet;
use catalog::{Catalog, Index, Relation, Table, TableId};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a transaction reads on one server: the catalog, and tables with its writes on this server.
#[derive(Debug, Clone)]
pub struct Reading {
    catalog: Arc<Catalog>,
    snapshot: Snapshot,
    writes: WriteSet,
    peers: Option<(Arc<dyn Peers>, Reader)>,
    /// Remembers which tables are read; `None` if that does not matter.
    reads: Option<Reads>,
}

/// The tables that a transaction has read. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reads(Arc<Mutex<BTreeSet<TableId>>>);

impl Reads {
    /// Returns the tables.
    pub(crate) fn tables(&self) -> BTreeSet<TableId> {
        self.0.lock().clone()
    }
}

impl Reading {
    /// The same, with the tables remembered that are read.
    pub(crate) fn remembered(self, reads: Option<&Reads>) -> Self {
        Self { reads: reads.cloned(), ..self }
    }

    pub(crate) fn new(
        catalog: &Arc<Catalog>,
        snapshot: &Snapshot,
        writes: &WriteSet,
        peers: Option<(Arc<dyn Peers>, Reader)>,
    ) -> Self {
        let (catalog, snapshot) = (Arc::clone(catalog), snapshot.clone());
        Self { catalog, snapshot, writes: writes.clone(), peers, reads: None }
    }

    /// Returns the catalog with the changes of the transaction.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Returns a table, or the file of an index, with the writes of the transaction.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        if let Some(reads) = &self.reads {
            reads.0.lock().insert(id);
        }
        match self.catalog.relation_by_id(id.relation())? {
            Relation::Table(table) => {
                let (view, indexes) = (self.view(table), self.catalog.indexes_of(id));
                if indexes.is_empty() {
                    return Some(view);
                }
                let file =
                    |of: &Arc<Index>| (Arc::clone(of), self.view(&of.file).of_index(of, table));
                Some(view.with_indexes(indexes.iter().map(file).collect()))
            }
            Relation::Index(index) => {
                let table = self.catalog.table_by_id(index.table)?;
                Some(self.view(&index.file).of_index(index, table))
            }
            Relation::View(_) | Relation::Sequence(_) => None,
        }
    }

    /// Returns a table or the file of an index on its own.
    fn view(&self, table: &Arc<Table>) -> TableView {
        let file = self.snapshot.file(table.id).cloned();
        let writes = self.writes.get(&table.id).cloned();
        let (table, snapshot) = (Arc::clone(table), self.snapshot.clone());
        TableView::new(table, file, snapshot, writes, self.peers.clone())
    }

    /// Returns the other servers and the identity for requests to them; `None` without a cluster.
    pub fn peers(&self) -> Option<&(Arc<dyn Peers>, Reader)> {
        self.peers.as_ref()
    }
}

impl Snapshot {
    /// Returns a table at the snapshot, without the rows of other servers.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        self.reading(None).table(id)
    }

    /// Returns the tables at the snapshot. `peers` are the other servers and the identity for
    /// requests to them.
    pub fn reading(&self, peers: Option<(Arc<dyn Peers>, Reader)>) -> Reading {
        Reading::new(self.catalog(), self, &WriteSet::new(), peers)
    }
}
