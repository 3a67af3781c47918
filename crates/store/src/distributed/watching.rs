//! What foreign keys and deferrable unique constraints must know of changed rows: every change goes through a
//! [`DistributedTransaction`], which notes it here.

use super::DistributedTransaction;
use crate::Error;
use crate::peers::Write;
use crate::transaction::SortedLoad;
use arrow::array::{ArrayRef, RecordBatch};
use catalog::{Catalog, TableId};
use references::{RowChange, RowChanges, Watched, watched};
use sdds::Key;
use std::sync::Arc;

impl DistributedTransaction {
    /// Returns the changes that foreign keys have not looked at. Whoever takes them looks at them.
    /// A transaction with such changes cannot commit.
    pub fn row_changes(&mut self) -> &mut RowChanges {
        &mut self.changes
    }

    /// Requires keys of a table, or of the file of an index, to have rows when the transaction
    /// commits, and until then: the transaction conflicts with those that delete them.
    ///
    /// # Errors
    /// Errors of other servers.
    pub async fn require(&mut self, id: TableId, keys: Vec<Key>) -> Result<(), Error> {
        if self.elsewhere.is_none() {
            let file = Arc::clone(self.table_or_missing(id)?.table());
            return self
                .waiting(|here| here.write(&file, Write::Require(keys.clone())))
                .await
                .map(drop);
        }
        self.write_to_file(id, &keys, &Write::Require(keys.clone())).await.map(drop)
    }

    /// Replaces rows, which are identified by their keys, by rows with other keys, in the same
    /// order.
    ///
    /// # Errors
    /// As [`Self::insert`].
    pub async fn replace(
        &mut self,
        id: TableId,
        keys: &[Key],
        rows: &[RecordBatch],
    ) -> Result<(), Error> {
        let old = match watched(self.catalog(), id) {
            Some(watched) => Some((self.old(id, keys, &watched).await?, watched)),
            None => None,
        };
        let view = self.table_or_missing(id)?;
        let new =
            rows.iter().map(|rows| view.encode_keys(rows)).collect::<Result<Vec<_>, Error>>()?;
        self.delete_unwatched(id, keys).await?;
        for rows in rows {
            self.insert_unwatched(id, rows).await?;
        }
        self.moved.note(id.0, keys.iter().cloned().zip(new.into_iter().flatten()));
        if let Some((old, watched)) = old {
            self.changes.add(watched.replaced(id, old, rows)?);
        }
        Ok(())
    }

    /// Whether constraints watch one of some columns of a table.
    pub fn watches(catalog: &Catalog, table: TableId, columns: &[usize]) -> bool {
        let watched = watched(catalog, table).map(|watched| watched.positions);
        watched.is_some_and(|watched| columns.iter().any(|column| watched.contains(column)))
    }

    /// Whether the rows of a table refer to others, or are checked later than they are written.
    fn refers(&self, id: TableId) -> bool {
        let catalog = self.catalog();
        catalog.table_by_id(id).is_some_and(|table| !table.foreign_keys.is_empty())
            || catalog.has_deferrable(id)
    }

    /// Whether the deletion of rows of a table has to be looked at.
    pub fn watches_deletion(catalog: &Catalog, id: TableId) -> bool {
        !catalog.referring_to(id).is_empty()
    }

    pub(super) fn note_inserted(&mut self, id: TableId, rows: &RecordBatch) {
        if !self.refers(id) {
            return;
        }
        if let Some(watched) = watched(self.catalog(), id) {
            let new = Some(watched.of(rows));
            self.changes.add(RowChange { table: id, columns: watched.ids, old: None, new });
        }
    }

    pub(super) async fn changes_of_upsert(
        &self,
        id: TableId,
        rows: &RecordBatch,
    ) -> Result<Vec<RowChange>, Error> {
        let Some(watched) = watched(self.catalog(), id) else { return Ok(Vec::new()) };
        let keys = self.table_or_missing(id)?.encode_keys(rows)?;
        let old = self.old(id, &keys, &watched).await?;
        let mut changes = watched.upserted(id, old, rows)?;
        changes.retain(|change| change.old.is_some() || self.refers(id));
        Ok(changes)
    }

    pub(super) async fn change_of_deletion(
        &self,
        id: TableId,
        keys: &[Key],
    ) -> Result<Option<RowChange>, Error> {
        if !Self::watches_deletion(self.catalog(), id) {
            return Ok(None);
        }
        let Some(watched) = watched(self.catalog(), id) else { return Ok(None) };
        let old = Some(self.old(id, keys, &watched).await?.0);
        Ok(Some(RowChange { table: id, columns: watched.ids, old, new: None }))
    }

    pub(super) fn changes_of_load(&self, id: TableId, load: &SortedLoad) -> Vec<RowChange> {
        let watched = watched(self.catalog(), id).filter(|_| self.refers(id));
        let Some(watched) = watched else { return Vec::new() };
        let Some(table) = self.catalog().table_by_id(id) else { return Vec::new() };
        let of_chunk = |chunk: &Arc<bucket::Chunk>| {
            let all = 0..chunk.rows();
            let column = |at: &usize| chunk.column(table, *at, &all);
            let new = Some(watched.positions.iter().map(column).collect());
            RowChange { table: id, columns: Arc::clone(&watched.ids), old: None, new }
        };
        load.chunks.iter().map(of_chunk).collect()
    }

    /// The watched values of rows, and the ascending positions of their keys.
    async fn old(
        &self,
        id: TableId,
        keys: &[Key],
        watched: &Watched,
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error> {
        self.table_or_missing(id)?.find_many(keys, &watched.positions).await
    }
}
