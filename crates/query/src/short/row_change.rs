//! A change of one row, with all values known.

use super::row_update::RowUpdate;
use crate::values::error::{Error, Result, SqlState};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use sdds::Key;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Table;

/// What becomes of a key's row.
pub(super) struct RowChange {
    pub(super) table: Arc<Table>,
    pub(super) key: Key,
    pub(super) what: What,
}

pub(super) enum What {
    /// It is new, with all columns of the table.
    Insert(RecordBatch),
    /// Columns are set, some of them to these values.
    Update(Arc<RowUpdate>, Vec<ArrayRef>),
    /// It goes.
    Delete,
}

impl RowChange {
    /// A new row, with all columns of the table.
    ///
    /// # Errors
    /// 23502 for a null in the key; XX000 unless it is one row.
    pub(super) fn insert(table: &Arc<Table>, row: RecordBatch) -> Result<Self> {
        let missing = || Error::new(SqlState::InternalError, "a row without a key");
        let key = store::key::of_rows(table, &row)?.pop().ok_or_else(missing)?;
        Ok(Self { table: Arc::clone(table), key, what: What::Insert(row) })
    }

    /// Changes the row; how many were changed.
    ///
    /// # Errors
    /// As INSERT, UPDATE and DELETE. The transaction may be half done then.
    pub(super) async fn apply(&self, transaction: &mut DistributedTransaction) -> Result<u64> {
        let id = self.table.id;
        match &self.what {
            What::Insert(row) => {
                transaction.insert(id, row).await?;
                Ok(1)
            }
            What::Update(update, given) => update.apply(transaction, &self.key, given).await,
            What::Delete => {
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
    /// As [`Self::apply`]; 40001 where others were first.
    pub(super) async fn commit(&self, mut transaction: DistributedTransaction) -> Result<u64> {
        let rows = self.apply(&mut transaction).await?;
        transaction.commit().await?;
        Ok(rows)
    }
}
