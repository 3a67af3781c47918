//! The writes of a statement.
//!
//! The parts of a statement with changes in WITH do not see each other's effects. Such a statement writes when all of its
//! parts have been computed, and changes each row once.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use sdds::Key;
use std::collections::HashMap;
use store::catalog::TableId;
use store::{DistributedTransaction, TableView};
use values::error::Result;

/// What a change has done.
#[derive(Default)]
pub(super) struct Changed {
    /// The number of rows.
    pub(super) count: u64,
    /// The columns of the written rows, followed by those of other relations that RETURNING shows.
    pub(super) rows: Vec<Vec<ArrayRef>>,
}

impl Changed {
    /// Adds rows of the table, which RETURNING shows if it `returns`.
    pub(super) fn add(&mut self, rows: Vec<RecordBatch>, returns: bool) {
        for rows in rows {
            self.count += rows.num_rows() as u64;
            if returns {
                self.rows.push(rows.columns().to_vec());
            }
        }
    }
}

/// A write that waits.
enum Waiting {
    Insert(RecordBatch),
    Upsert(RecordBatch),
    Delete(Vec<Key>),
    /// Rows that get other keys.
    Replace(Vec<Key>, Vec<RecordBatch>),
}

/// Writes of a statement to its transaction.
pub(super) struct Writer<'a> {
    pub(super) transaction: &'a mut DistributedTransaction,
    /// `None` if rows are written at once.
    deferred: Option<Deferred>,
}

/// Writes that wait for the end of the statement.
#[derive(Default)]
struct Deferred {
    writes: Vec<(TableId, Waiting)>,
    /// Whether the keys that the statement has changed have a row then.
    keys: HashMap<TableId, HashMap<Key, bool>>,
}

impl<'a> Writer<'a> {
    /// Writes of a statement, which waits if it has changes in WITH.
    pub(super) fn new(transaction: &'a mut DistributedTransaction, waits: bool) -> Self {
        Self { transaction, deferred: waits.then(Deferred::default) }
    }

    /// Whether rows are written at once.
    pub(super) fn is_direct(&self) -> bool {
        self.deferred.is_none()
    }

    /// Whether the statement has given a key a row, or has taken it. `None` if it has not changed the key.
    pub(super) fn changed(&self, view: &TableView, key: &Key) -> Option<bool> {
        self.deferred.as_ref()?.keys.get(&view.table().id)?.get(key).copied()
    }

    /// Inserts rows with all columns of the table.
    pub(super) async fn insert(&mut self, view: &TableView, rows: RecordBatch) -> Result<()> {
        let id = view.table().id;
        match &mut self.deferred {
            None => Ok(self.transaction.insert(id, &rows).await?),
            Some(deferred) => {
                deferred.add(id, view.encode_keys(&rows)?, true, Waiting::Insert(rows))
            }
        }
    }

    /// Replaces rows with the same keys.
    pub(super) async fn upsert(&mut self, view: &TableView, rows: RecordBatch) -> Result<()> {
        let id = view.table().id;
        match &mut self.deferred {
            None => Ok(self.transaction.upsert(id, &rows).await?),
            Some(deferred) => {
                deferred.add(id, view.encode_keys(&rows)?, true, Waiting::Upsert(rows))
            }
        }
    }

    /// Deletes rows by their keys.
    pub(super) async fn delete(&mut self, view: &TableView, keys: Vec<Key>) -> Result<()> {
        let id = view.table().id;
        match &mut self.deferred {
            None => Ok(self.transaction.delete(id, &keys).await?),
            Some(deferred) => deferred.add(id, keys.clone(), false, Waiting::Delete(keys)),
        }
    }

    /// Replaces rows, which are identified by their keys, by rows with other keys, in the same order.
    pub(super) async fn replace(
        &mut self,
        view: &TableView,
        keys: Vec<Key>,
        rows: Vec<RecordBatch>,
    ) -> Result<()> {
        let id = view.table().id;
        let Some(deferred) = &mut self.deferred else {
            return Ok(self.transaction.replace(id, &keys, &rows).await?);
        };
        deferred.note(id, keys.clone(), false);
        for rows in &rows {
            deferred.note(id, view.encode_keys(rows)?, true);
        }
        deferred.writes.push((id, Waiting::Replace(keys, rows)));
        Ok(())
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// As of [`DistributedTransaction::insert`].
    pub(super) async fn finish(self) -> Result<()> {
        for (id, write) in self.deferred.map_or_else(Vec::new, |deferred| deferred.writes) {
            match write {
                Waiting::Insert(rows) => self.transaction.insert(id, &rows).await,
                Waiting::Upsert(rows) => self.transaction.upsert(id, &rows).await,
                Waiting::Delete(keys) => self.transaction.delete(id, &keys).await,
                Waiting::Replace(keys, rows) => self.transaction.replace(id, &keys, &rows).await,
            }?;
        }
        Ok(())
    }
}

impl Deferred {
    fn add(&mut self, id: TableId, keys: Vec<Key>, has_row: bool, write: Waiting) -> Result<()> {
        self.note(id, keys, has_row);
        self.writes.push((id, write));
        Ok(())
    }

    fn note(&mut self, id: TableId, keys: Vec<Key>, has_row: bool) {
        let known = self.keys.entry(id).or_default();
        known.extend(keys.into_iter().map(|key| (key, has_row)));
    }
}
