//! The insertion of several rows, whose error is that of the first row in error.
//!
//! The store looks at the primary keys of all rows before the entries of unique indexes, and at these in their order. Which
//! row comes first is found out behind an error only.

use datafusion::arrow::array::RecordBatch;
use store::catalog::TableId;
use store::{DistributedTransaction, Error};

/// Inserts rows with all columns of the table.
///
/// # Errors
/// As of [`DistributedTransaction::insert`]; of rows that are duplicates, the first one, in the first of the table's
/// unique indexes in which it is one.
pub async fn insert_in_order(
    transaction: &mut DistributedTransaction,
    id: TableId,
    rows: &RecordBatch,
) -> Result<(), Error> {
    let indexes = transaction.catalog().indexes_of(id);
    if rows.num_rows() < 2 || !indexes.iter().any(|index| index.is_unique) {
        return transaction.insert(id, rows).await;
    }
    let before = transaction.savepoint();
    let inserted = transaction.insert(id, rows).await;
    if !is_duplicate(&inserted) {
        return inserted;
    }
    let (mut sound, mut end) = (0, rows.num_rows());
    while end - sound > 1 {
        let middle = sound.midpoint(end);
        transaction.rollback_to(&before).await?;
        let inserted = transaction.insert(id, &rows.slice(0, middle)).await;
        if is_duplicate(&inserted) {
            end = middle;
        } else {
            inserted?;
            sound = middle;
        }
    }
    transaction.rollback_to(&before).await?;
    transaction.insert(id, &rows.slice(0, sound)).await?;
    transaction.insert(id, &rows.slice(sound, 1)).await?;
    transaction.insert(id, &rows.slice(end, rows.num_rows() - end)).await
}

fn is_duplicate(inserted: &Result<(), Error>) -> bool {
    matches!(inserted, Err(Error::DuplicateKey { .. }))
}
