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

    /// Changes the row, and returns the number of changed rows.
    ///
    /// # Errors
    /// Those of INSERT, UPDATE and DELETE. The transaction may then contain part of the change.
    pub(super) async fn apply(&self, transaction: &mut DistributedTransaction) -> Result<u64> {
        let id = self.table.id;
        match &self.kind {
            ChangeKind::Insert(row) => {
                transaction.insert(id, row).await?;
                Ok(1)
            }
            ChangeKind::Update(update, given) => update.apply(transaction, &self.key, given).await,
            ChangeKind::Delete => {
                let Some(view) = transaction.table(id) else { return Ok(0) };
                let found = view.find(&self.key, &[]).await?.is_some();
                if found {
                    transaction.delete(id, std::slice::from_ref(&self.key)).await?;
                }
                Ok(u64::from(found))
            }
        }
    }

    /// Changes the row and commits.
    ///
    /// # Errors
    /// As for [`Self::apply`]; 40001 for a conflict with another transaction.
    pub(super) async fn commit(&self, mut transaction: DistributedTransaction) -> Result<u64> {
        let rows = self.apply(&mut transaction).await?;
        transaction.commit().await?;
        Ok(rows)
    }
}
