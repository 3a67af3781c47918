//! The indexes of a table change with its rows, in the same transaction.
//!
//! Whoever writes rows knows the new ones, and reads the old ones before. Without a cluster the
//! transaction writes the entries at once. In a cluster other servers may own them: they wait until
//! the coordinator takes them ([`Transaction::take_entries`]) and sends them to their owners.

use super::Transaction;
use crate::Error;
use crate::peers::Write;
use crate::read::TableView;
use arrow::array::{ArrayRef, RecordBatch};
use bucket::{CHUNK_ROWS, Chunk, EntryChanges, IndexChanges, IndexedRows};
use catalog::{Catalog, Index, Table};
use sdds::Key;
use std::collections::HashMap;
use std::sync::Arc;

impl Transaction {
    /// Returns what changes in indexes when `rows` get these keys, or when the keys lose their rows.
    /// `replaces` is whether some keys may have rows.
    pub(super) fn entries_of(
        &self,
        view: &TableView,
        keys: &[Key],
        rows: Option<&RecordBatch>,
        replaces: bool,
    ) -> Result<IndexChanges, Error> {
        let table = view.table();
        let mut changes = IndexChanges::default();
        let indexes = self.catalog().indexes_of(table.id);
        if indexes.is_empty() {
            return Ok(changes);
        }
        // Of several rows with the same key the last one stays.
        let last: HashMap<&Key, usize> =
            keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
        let new: Vec<(&Key, usize)> = last.into_iter().filter(|_| rows.is_some()).collect();
        for index in indexes {
            let inputs = index.input_positions(table);
            let (old, found) = view.get_many(if replaces { keys } else { &[] }, &inputs)?;
            let old = self.store.indexed(index, table, &old, found.len())?;
            let found: Vec<_> = found.iter().enumerate().map(|(at, of)| (&keys[*of], at)).collect();
            let of_new = match rows {
                Some(rows) => {
                    let inputs = inputs.iter().map(|column| Arc::clone(rows.column(*column)));
                    let inputs: Vec<ArrayRef> = inputs.collect();
                    self.store.indexed(index, table, &inputs, rows.num_rows())?
                }
                None => IndexedRows::default(),
            };
            changes.change(index, (&old, &found), (&of_new, &new))?;
        }
        Ok(changes)
    }

    /// Returns what changes in indexes when a table gets the rows of chunks.
    pub(super) fn entries_of_chunks(
        &self,
        view: &TableView,
        chunks: &[Arc<Chunk>],
    ) -> Result<IndexChanges, Error> {
        let table = view.table();
        let mut changes = IndexChanges::default();
        for index in self.catalog().indexes_of(table.id) {
            let inputs = index.input_positions(table);
            for chunk in chunks {
                let (encoder, all) = (chunk.keys(), 0..chunk.rows());
                let keys: Vec<Key> = all.clone().map(|row| encoder.key(row)).collect();
                let inputs: Vec<ArrayRef> =
                    inputs.iter().map(|column| chunk.column(table, *column, &all)).collect();
                let new = self.store.indexed(index, table, &inputs, keys.len())?;
                let rows: Vec<_> = keys.iter().enumerate().map(|(row, key)| (key, row)).collect();
                changes.change(index, (&IndexedRows::default(), &[]), (&new, &rows))?;
            }
        }
        Ok(changes)
    }

    /// Writes changes of indexes, or keeps them for the coordinator.
    pub(super) fn index(&mut self, changes: IndexChanges) -> Result<(), Error> {
        if self.store.is_in_cluster() {
            self.entries.add(changes);
            return Ok(());
        }
        for (file, _, write) in writes(&self.catalog, changes)? {
            self.write(&file, write)?;
        }
        Ok(())
    }

    /// Takes what its writes change in indexes, to be written to the owners of the entries.
    pub fn take_entries(&mut self) -> IndexChanges {
        std::mem::take(&mut self.entries)
    }
}

/// A write to the file of an index, with the keys that it writes.
pub(crate) type FileWrite = (Arc<Table>, Vec<Key>, Write);

/// Returns changes of indexes as writes to their files, each with the keys that it writes: of all
/// indexes, first what is removed.
///
/// # Errors
/// [`Error::DuplicateKey`] for two new entries of a unique index.
pub(crate) fn writes(catalog: &Catalog, changes: IndexChanges) -> Result<Vec<FileWrite>, Error> {
    let (mut removals, mut additions) = (Vec::new(), Vec::new());
    for (id, mut changes) in changes.into_changes() {
        let Some(index) = catalog.index_by_id(id) else { continue };
        let file = &index.file;
        if let (Some(key), Some(table)) = (changes.sort(), catalog.table_by_id(index.table)) {
            return Err(Error::duplicate_entry(index, table, &key));
        }
        let removed = std::mem::take(&mut changes.removed);
        if !removed.is_empty() {
            removals.push((Arc::clone(file), removed.clone(), Write::Delete(removed)));
        }
        if !changes.added.is_empty() {
            additions.push(addition(index, &changes)?);
        }
    }
    removals.append(&mut additions);
    Ok(removals)
}

/// Many entries become a run.
fn addition(index: &Index, changes: &EntryChanges) -> Result<FileWrite, Error> {
    let rows = changes.rows(index)?;
    let keys = bucket::key::of_rows(&index.file, &rows)?;
    let write = match rows.num_rows() > CHUNK_ROWS {
        true => Write::Load(rows),
        false => Write::Insert(rows),
    };
    Ok((Arc::clone(&index.file), keys, write))
}
