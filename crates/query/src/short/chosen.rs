//! The rows that an UPDATE or a DELETE changes.

use super::Given;
use datafusion::arrow::array::{BooleanArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{filter_record_batch, take_record_batch};
use keyed::{Operand, Read};
use sdds::Key;
use store::catalog::{SqlType, Table};
use store::locks::Mode;
use store::{DistributedTransaction, LockPolicy};
use values::error::Result;

/// The rows of a condition.
pub(super) enum Chosen {
    /// The row of a key.
    Key(Vec<Operand>),
    /// Rows that are found by part of a key or by an index, with all columns. They are on this server.
    Found(Box<Read>),
    /// Rows that a query finds and locks: `WHERE key = (SELECT key ... LIMIT 1 FOR UPDATE SKIP LOCKED)`.
    Locked(Box<Locked>),
}

/// A query that locks rows of the table that is changed.
pub(super) struct Locked {
    /// The rows with all columns, in the order of the query, without its limit.
    pub(super) read: Read,
    /// The number of rows that are wanted.
    pub(super) limit: usize,
    pub(super) mode: Mode,
    pub(super) policy: LockPolicy,
}

impl Chosen {
    /// The values of the key, if that is the condition.
    pub(super) fn key(&self) -> Option<&[Operand]> {
        match self {
            Self::Key(operands) => Some(operands),
            Self::Found(_) | Self::Locked(_) => None,
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
            Self::Locked(locked) => locked.read.parameters(),
        }
    }

    /// The rows that a statement changes, with their keys. `None` if the planner is needed, and for the row of a key.
    ///
    /// # Errors
    /// Those of the store, and of locks.
    pub(super) async fn find(
        &self,
        table: &Table,
        transaction: &mut DistributedTransaction,
        given: Given<'_>,
    ) -> Result<Option<(Vec<Key>, RecordBatch)>> {
        match self {
            Self::Key(_) => Ok(None),
            Self::Found(read) => find(read, table, transaction, given),
            Self::Locked(locked) => locked.lock(table, transaction, given).await,
        }
    }
}

impl Locked {
    /// Locks rows in the order of the query until there are as many as are wanted.
    async fn lock(
        &self,
        table: &Table,
        transaction: &mut DistributedTransaction,
        given: Given<'_>,
    ) -> Result<Option<(Vec<Key>, RecordBatch)>> {
        let Self { read, limit, mode, policy } = self;
        let mut most = match policy {
            LockPolicy::Skip => limit + SKIPPED,
            LockPolicy::Wait | LockPolicy::Refuse => *limit,
        };
        while most <= ROWS_MAX {
            let Some(view) = transaction.table(table.id) else { return Ok(None) };
            let Some(found) = read.rows_up_to(&view, given.parameters, most)? else {
                return Ok(None);
            };
            let rows = RecordBatch::try_new(table.arrow_schema(), found.columns().to_vec())?;
            let keys = view.encode_keys(&rows)?;
            let (mut taken, mut places) = (Vec::with_capacity(*limit), Vec::with_capacity(*limit));
            for (place, key) in keys.iter().enumerate() {
                if taken.len() == *limit {
                    break;
                }
                let skips = given.repeats && *policy == LockPolicy::Skip;
                if skips && transaction.is_deleted_meanwhile(table.id, key) {
                    continue;
                }
                let one = std::slice::from_ref(key);
                if transaction.lock_selected(table.id, one, *mode, *policy).await? == [true] {
                    taken.push(key.clone());
                    places.push(place as u32);
                }
            }
            if taken.len() == *limit || keys.len() < most {
                let rows = take_record_batch(&rows, &UInt32Array::from(places))?;
                return Ok(Some((taken, rows)));
            }
            most *= 4;
        }
        Ok(None)
    }
}

/// Rows that are read in addition to those that are wanted, since others may have locked some.
const SKIPPED: usize = 16;

/// Rows that are read, at most.
const ROWS_MAX: usize = 1 << 10;

/// The rows that a statement changes, with their keys. A statement that is executed again after it has waited changes only
/// rows that it had chosen at first. `None` if the planner is needed.
///
/// # Errors
/// Those of the store.
fn find(
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
