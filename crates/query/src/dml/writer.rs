//! The writes of a statement.
//!
//! The parts of a statement with changes in WITH do not see each other's effects. Such a statement writes when all of its
//! parts have been computed, and changes each row once.
//!
//! Where functions see what their statement has changed so far, it computes and writes one row after the other.

use super::called::Calls;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use planner::Planner;
use planner::over_rows::OverRows;
use sdds::Key;
use std::collections::HashMap;
use std::sync::Arc;
use store::catalog::TableId;
use store::{DistributedTransaction, TableView};
use table_rows::{Constraints, insert_in_order};
use values::error::{Error, Result};

/// What a change has done.
#[derive(Default)]
pub(super) struct Changed {
    /// The number of rows.
    pub(super) count: u64,
    /// The columns of the written rows, followed by those of other relations that RETURNING shows.
    pub(super) rows: Vec<Vec<ArrayRef>>,
    /// What RETURNING shows of these rows, as far as it is computed.
    pub(super) returned: Vec<RecordBatch>,
}

impl Changed {
    /// Computes what RETURNING shows of the rows since the last time.
    ///
    /// # Errors
    /// Those of its expressions.
    pub(super) async fn show(&mut self, writer: &mut Writer<'_>) -> Result<()> {
        let Some((planner, values)) = writer.returning.clone() else { return Ok(()) };
        for rows in &self.rows[self.returned.len()..] {
            self.returned.push(writer.values(planner, &values, rows).await?);
        }
        Ok(())
    }

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
    /// The functions that see what has been written; `None` if there are none.
    calls: Option<Calls<'a>>,
    /// RETURNING of the change that is written.
    pub(super) returning: Option<(&'a Planner<'a>, Arc<OverRows>)>,
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
        Self { transaction, deferred: waits.then(Deferred::default), calls: None, returning: None }
    }

    /// Lets functions see what has been written.
    pub(super) fn show(&mut self, calls: Calls<'a>) {
        self.calls = Some(calls);
    }

    /// Whether rows are computed and written one after the other.
    pub(super) fn is_in_turn(&self) -> bool {
        self.calls.is_some()
    }

    /// The result of work that may call functions.
    ///
    /// # Errors
    /// Those of the work.
    pub(super) async fn computed<T: Send + 'static>(
        &mut self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        match &mut self.calls {
            Some(calls) => Box::pin(calls.served(self.transaction, work)).await,
            None => work.await,
        }
    }

    /// Columns as rows of their table that satisfy its constraints.
    ///
    /// # Errors
    /// As of [`Constraints::batch`].
    pub(super) async fn checked(
        &mut self,
        constraints: &Arc<Constraints>,
        columns: Vec<ArrayRef>,
    ) -> Result<RecordBatch> {
        let constraints = Arc::clone(constraints);
        self.computed(async move { constraints.batch(columns) }).await
    }

    /// Inserts columns as rows of their table, up to the first row in error.
    ///
    /// # Errors
    /// As of [`Constraints::batch`]; those of the transaction.
    pub(super) async fn insert_checked(
        &mut self,
        (view, constraints): (&TableView, &Arc<Constraints>),
        columns: Vec<ArrayRef>,
    ) -> Result<RecordBatch> {
        let (rows, error) = self.checked_before_error(constraints, columns).await?;
        self.insert(view, rows.clone()).await?;
        error.map_or(Ok(rows), Err)
    }

    /// As [`Constraints::rows_before_error`].
    ///
    /// # Errors
    /// As there.
    pub(super) async fn checked_before_error(
        &mut self,
        constraints: &Arc<Constraints>,
        columns: Vec<ArrayRef>,
    ) -> Result<(RecordBatch, Option<Error>)> {
        let constraints = Arc::clone(constraints);
        self.computed(async move { constraints.rows_before_error(columns) }).await
    }

    /// Values over rows at hand.
    ///
    /// # Errors
    /// Those of the expressions.
    pub(super) async fn values(
        &mut self,
        planner: &Planner<'_>,
        values: &OverRows,
        rows: &[ArrayRef],
    ) -> Result<RecordBatch> {
        let count = rows.first().map_or(0, |column| column.len());
        let work = values.work(planner, rows, count).await?;
        self.computed(work).await
    }

    /// Whether rows are written at once.
    pub(super) fn is_direct(&self) -> bool {
        self.deferred.is_none()
    }

    /// The rows that wait to be written to a table.
    pub(super) fn waiting(&self, table: TableId) -> impl Iterator<Item = &RecordBatch> {
        let writes = self.deferred.iter().flat_map(|deferred| &deferred.writes);
        writes.filter(move |(id, _)| *id == table).flat_map(|(_, write)| match write {
            Waiting::Insert(rows) | Waiting::Upsert(rows) => std::slice::from_ref(rows),
            Waiting::Replace(_, rows) => rows.as_slice(),
            Waiting::Delete(_) => &[],
        })
    }

    /// Whether the statement has given a key a row, or has taken it. `None` if it has not changed the key.
    pub(super) fn changed(&self, view: &TableView, key: &Key) -> Option<bool> {
        self.deferred.as_ref()?.keys.get(&view.table().id)?.get(key).copied()
    }

    /// Inserts rows with all columns of the table.
    pub(super) async fn insert(&mut self, view: &TableView, rows: RecordBatch) -> Result<()> {
        let id = view.table().id;
        match &mut self.deferred {
            None => Ok(insert_in_order(self.transaction, id, &rows).await?),
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
