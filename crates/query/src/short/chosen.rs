//! The rows that an UPDATE or a DELETE changes.

use super::Given;
use datafusion::arrow::array::{BooleanArray, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use keyed::{Operand, Read};
use sdds::Key;
use store::DistributedTransaction;
use store::catalog::{SqlType, Table};
use values::error::Result;

/// The rows of a condition.
pub(super) enum Chosen {
    /// The row of a key.
    Key(Vec<Operand>),
    /// Rows that are found by part of a key or by an index, with all columns. They are on this server.
    Found(Box<Read>),
}

impl Chosen {
    /// The values of the key, if that is the condition.
    pub(super) fn key(&self) -> Option<&[Operand]> {
        match self {
            Self::Key(operands) => Some(operands),
            Self::Found(_) => None,
        }
    }

    /// The parameters, with the types of what they are compared with.
    pub(super) fn parameters(&self, table: &Table) -> Vec<(usize, SqlType)> {
        match self {
            Self::Key(operands) => {
                let operands = operands.iter().zip(table.key_indices());
                let parameter = |(operand, index): (&Operand, usize)| {
                    Some((operand.number()?, table.columns[index].sql_type.clone()))
                };
                operands.filter_map(parameter).collect()
            }
            Self::Found(read) => read.parameters(),
        }
    }
}

/// The rows that a statement changes, with their keys. A statement that is executed again after it has waited changes only
/// rows that it had chosen at first. `None` if the planner is needed.
///
/// # Errors
/// Those of the store.
pub(super) fn find(
    read: &Read,
    table: &Table,
    transaction: &mut DistributedTransaction,
    given: Given<'_>,
) -> Result<Option<(Vec<Key>, RecordBatch)>> {
    let Some(view) = transaction.table(table.id) else { return Ok(None) };
    let Some(found) = read.rows(&view, given.parameters)? else { return Ok(None) };
    let mut rows = RecordBatch::try_new(table.arrow_schema(), found.columns().to_vec())?;
    let mut keys = view.encode_keys(&rows)?;
    transaction.choose(table.id, &keys);
    if transaction.is_locking() {
        let is_chosen = |key: &Key| transaction.is_chosen(table.id, key);
        let kept: Vec<bool> = keys.iter().map(is_chosen).collect();
        if kept.contains(&false) {
            rows = filter_record_batch(&rows, &BooleanArray::from(kept.clone()))?;
            let mut kept = kept.into_iter();
            keys.retain(|_| kept.next().unwrap_or(false));
        }
    }
    transaction.has_chosen(table.id)?;
    Ok(Some((keys, rows)))
}
