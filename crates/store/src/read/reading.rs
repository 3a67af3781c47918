//! What a transaction reads on one server.

use super::TableView;
use crate::Snapshot;
use crate::peers::{Peers, Reader};
use crate::write_set::WriteSet;
use catalog::{Catalog, Index, TableId};
use std::sync::Arc;

/// What a transaction reads on one server: the catalog, and tables with its writes on this server.
#[derive(Debug, Clone)]
pub struct Reading {
    catalog: Arc<Catalog>,
    snapshot: Snapshot,
    writes: WriteSet,
    peers: Option<(Arc<dyn Peers>, Reader)>,
}

impl Reading {
    pub(crate) fn new(
        catalog: &Arc<Catalog>,
        snapshot: &Snapshot,
        writes: &WriteSet,
        peers: Option<(Arc<dyn Peers>, Reader)>,
    ) -> Self {
        let (catalog, snapshot) = (Arc::clone(catalog), snapshot.clone());
        Self { catalog, snapshot, writes: writes.clone(), peers }
    }

    /// Returns the catalog with the changes of the transaction.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// Returns a table, or the file of an index, with the writes of the transaction.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        let view = self.file(id)?;
        let indexes = self.catalog.indexes_of(id);
        if !indexes.is_empty() {
            let file = |index: &Arc<Index>| {
                let file = self.file(index.file.id)?.of_index(index, view.table());
                Some((Arc::clone(index), file))
            };
            let indexes = indexes.iter().filter_map(file).collect();
            return Some(view.with_indexes(indexes));
        }
        let Some(index) = self.catalog.index_by_id(id) else { return Some(view) };
        let table = self.catalog.table_by_id(index.table)?;
        Some(view.of_index(index, table))
    }

    /// Returns a file on its own.
    fn file(&self, id: TableId) -> Option<TableView> {
        let table = Arc::clone(self.catalog.table_by_id(id)?);
        let file = self.snapshot.file(id).cloned();
        let writes = self.writes.get(&id).cloned();
        Some(TableView::new(table, file, self.snapshot.clone(), writes, self.peers.clone()))
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
