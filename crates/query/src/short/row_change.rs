//! A change of one row.

use super::row_update::RowUpdate;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use sdds::Key;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Table;
use values::error::{Error, Result, SqlState};

/// The change of the row of a key.
pub(super) struct RowChange {
    pub(super) table: Arc<Table>,
    pub(super) key: Key,
    pub(super) kind: ChangeKind,
}

/// The kind of a change.
pub(super) enum ChangeKind {
    /// A new row, with all columns of the table.
    Insert(RecordBatch),
    /// An update, with its given values and inputs (see [`RowUpdate::apply`]).
    Update(Arc<RowUpdate>, Vec<ArrayRef>),
    Delete,
}

/// Rows that have been changed.
#[derive(Default)]
pub(super) struct Changed {
    pub(super) count: u64,
    /// The rows with all columns: new ones, and the deleted ones where they are asked for.
    pub(super) rows: Vec<RecordBatch>,
}

impl Changed {
    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.rows.extend(other.rows);
    }
}

impl From<RecordBatch> for Changed {
    fn from(rows: RecordBatch) -> Self {
        Self { count: rows.num_rows() as u64, rows: vec![rows] }
    }
}

impl RowChange {
    /// The insertion of a row, with all columns of the table.
    ///
    /// # Errors
    /// 23502 for a NULL in the key; XX000 unless `row` has one row.
    pub(super) fn insert(table: &Arc<Table>, row: RecordBatch) -> Result<Self> {
        let missing = || Error::new(SqlState::InternalError, "a row without a key");
        let key = store::key::of_rows(table, &row)?.pop().ok_or_else(missing)?;
        Ok(Self { table: Arc::clone(table), key, kind: ChangeKind::Insert(row) })
    }

    /// Changes the row. `returns` says whether a deleted row is asked for.
    ///
    /// # Errors
    /// Those of INSERT, UPDATE and DELETE. The transaction may then contain part of the change.
    pub(super) async fn apply(
        &self,
        transaction: &mut DistributedTransaction,
        returns: bool,
    ) -> Result<Changed> {
        let id = self.table.id;
        match &self.kind {
            ChangeKind::Insert(row) => {
                transaction.insert(id, row).await?;
                Ok(row.clone().into())
            }
            ChangeKind::Update(update, given) => {
                let updated = update.apply(transaction, &self.key, given).await?;
                Ok(updated.map(Changed::from).unwrap_or_default())
            }
            ChangeKind::Delete => {
                let Some(view) = transaction.table(id) else { return Ok(Changed::default()) };
                let columns = if returns { self.table.columns.len() } else { 0 };
                let columns: Vec<usize> = (0..columns).collect();
                let Some(values) = view.find(&self.key, &columns).await? else {
                    return Ok(Changed::default());
                };
                transaction.delete(id, std::slice::from_ref(&self.key)).await?;
                match returns {
                    true => Ok(RecordBatch::try_new(self.table.arrow_schema(), values)?.into()),
                    false => Ok(Changed { count: 1, rows: Vec::new() }),
                }
            }
        }
    }

    /// Changes the row and commits. Returns the number of changed rows.
    ///
    /// # Errors
    /// As for [`Self::apply`]; 40001 for a conflict with another transaction.
    pub(super) async fn commit(&self, mut transaction: DistributedTransaction) -> Result<u64> {
        let changed = self.apply(&mut transaction, false).await?;
        transaction.commit().await?;
        Ok(changed.count)
    }
}
