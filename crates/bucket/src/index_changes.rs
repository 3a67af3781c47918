//! What a change of rows changes in the indexes of their table.

use crate::Error;
use crate::indexed_rows::IndexedRows;
use crate::key::{EntryEncoder, of_entry};
use arrow::array::{BinaryViewArray, RecordBatch};
use catalog::{Index, TableId};
use sdds::Key;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Entries of indexes that are to be removed, and then entries to be added, by index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexChanges(BTreeMap<TableId, EntryChanges>);

/// The changes of one index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryChanges {
    /// The keys of entries without a row any more.
    pub removed: Vec<Key>,
    /// New entries, each with the key of its row.
    pub added: Vec<(Vec<u8>, Key)>,
}

impl IndexChanges {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the changes for rows with different keys: the old entries of some rows, and the new ones
    /// of others. A row that keeps its entry is left out, and so is one that the index does not have.
    /// Each item is the key of a row, and its position among the rows.
    ///
    /// # Errors
    /// [`Error::KeyType`].
    pub fn change(
        &mut self,
        index: &Index,
        old: (&IndexedRows, &[(&Key, usize)]),
        new: (&IndexedRows, &[(&Key, usize)]),
    ) -> Result<(), Error> {
        let before = EntryEncoder::new(index, &old.0.columns)?;
        let after = EntryEncoder::new(index, &new.0.columns)?;
        let old_rows = old.1.iter().filter(|(_, row)| old.0.has(*row));
        let old_rows = old_rows.map(|(key, row)| (*key, before.entry(*row, key)));
        let mut left: BTreeMap<&Key, Vec<u8>> = old_rows.collect();
        let mut changes = EntryChanges::default();
        for (key, row) in new.1.iter().filter(|(_, row)| new.0.has(*row)) {
            let entry = after.entry(*row, key);
            if left.get(key) == Some(&entry) {
                left.remove(key);
            } else {
                changes.added.push((entry, Key::clone(key)));
            }
        }
        changes.removed = left.into_values().map(|entry| of_entry(&entry)).collect();
        if !changes.removed.is_empty() || !changes.added.is_empty() {
            self.add_of(index.file.id, changes);
        }
        Ok(())
    }

    /// Adds changes for other rows.
    pub fn add(&mut self, other: Self) {
        other.0.into_iter().for_each(|(index, changes)| self.add_of(index, changes));
    }

    fn add_of(&mut self, index: TableId, mut changes: EntryChanges) {
        let known = self.0.entry(index).or_default();
        known.removed.append(&mut changes.removed);
        known.added.append(&mut changes.added);
    }

    /// Returns the changes by index.
    pub fn into_changes(self) -> impl Iterator<Item = (TableId, EntryChanges)> {
        self.0.into_iter()
    }
}

impl EntryChanges {
    /// Returns the first of two new entries that are the same. The entries are in order afterwards.
    pub fn sort(&mut self) -> Option<Key> {
        self.added.sort_unstable();
        let pair = self.added.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
        Some(of_entry(&pair[0].0))
    }

    /// Returns the new entries as rows of the file of their index.
    ///
    /// # Errors
    /// [`Error::Arrow`].
    pub fn rows(&self, index: &Index) -> Result<RecordBatch, Error> {
        let entries = self.added.iter().map(|(entry, _)| entry.as_slice());
        let entries = BinaryViewArray::from_iter_values(entries);
        let rows = self.added.iter().map(|(_, row)| row.as_bytes());
        let rows = BinaryViewArray::from_iter_values(rows);
        Ok(RecordBatch::try_new(
            index.file.arrow_schema(),
            vec![Arc::new(entries), Arc::new(rows)],
        )?)
    }
}
