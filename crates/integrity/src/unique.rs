//! UNIQUE constraints that are deferrable. Their indexes take rows with the same values; the constraint is checked at
//! the end of the statement or of the transaction.
//!
//! Two transactions that give rows the same value at the same time do not see each other's rows. So each of them also
//! writes the value as a key of the index that never has a row, its *guard*: the second waits for the first, or conflicts.
//! A transaction whose check waits takes the guards that are free: whoever comes later waits for it when it is checked, and
//! not the other way round. A transaction that takes a value from a row needs no guard, since it has locked the row.

use crate::lookup::{self, VALUES_MAX, condition, joined, missing};
use crate::surroundings::Surroundings;
use crate::{errors, tuples};
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::Column;
use datafusion::datasource::provider_as_source;
use datafusion::functions_aggregate::expr_fn::{count, min};
use datafusion::logical_expr::{Expr, LogicalPlanBuilder, lit};
use scan::number_keys::compared;
use scan::provider::{BucketTable, Columns};
use sdds::Key;
use std::sync::Arc;
use store::catalog::{Index, Table};
use store::key::{EntryEncoder, of_entry};
use store::locks::Mode;
use store::{DistributedTransaction, LockPolicy, RowChange};
use values::error::{Error, Result};

/// The name of the rows that are counted, in plans.
const ROWS: &str = "?unique";

/// So many keys are locked with one request.
const LOCKS_MAX: usize = 1 << 14;

/// The values that a change gives rows in a unique index; without those that have a NULL, which are equal to none. `None`
/// if there are none.
pub(crate) fn changed(
    change: &RowChange,
    table: &Table,
    index: &Index,
) -> Result<Option<Vec<ArrayRef>>> {
    let Some(new) = &change.new else { return Ok(None) };
    let columns: Vec<_> = index.columns.iter().filter_map(|column| column.key.column()).collect();
    let new = change.picked(new, &columns);
    debug_assert_eq!(new.len(), index.positions(table).len());
    let changed = match &change.old {
        Some(old) => tuples::different(&change.picked(old, &columns), &new)?,
        None => (0..tuples::len(&new)).collect(),
    };
    let valued: Vec<usize> =
        changed.into_iter().filter(|row| tuples::nulls(&new, *row) == 0).collect();
    tuples::of_rows(&new, &valued)
}

/// The guards of some values.
fn guards(index: &Index, values: &[ArrayRef]) -> Result<Vec<Key>> {
    let encoder = EntryEncoder::new(index, values).map_err(store::Error::from)?;
    Ok((0..tuples::len(values)).map(|row| of_entry(&encoder.values(row))).collect())
}

/// Takes the guards of values that are checked at the end of the transaction, as far as they are free.
///
/// # Errors
/// Those of locks.
pub(crate) async fn take_free_guards(
    transaction: &mut DistributedTransaction,
    index: &Index,
    values: &[ArrayRef],
) -> Result<()> {
    if !transaction.is_locking() {
        return Ok(());
    }
    for guards in guards(index, values)?.chunks(LOCKS_MAX) {
        let (file, free) = (index.file.id, LockPolicy::Skip);
        transaction.lock_selected(file, guards, Mode::ForUpdate, free).await?;
    }
    Ok(())
}

/// Checks that no two rows have one of some values.
///
/// # Errors
/// 23505; those of a write.
pub(crate) async fn check(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    (table, index): (&Arc<Table>, &Arc<Index>),
    values: &[ArrayRef],
) -> Result<()> {
    transaction.delete(index.file.id, &guards(index, values)?).await?;
    let of = (table, index);
    let Some(found) = repeated(surroundings, transaction, of, Some(values)).await? else {
        return Ok(());
    };
    // Another transaction may be deleting one of the rows, or changing it. Locks tell.
    if !transaction.is_locking() {
        let table = table.name.clone();
        return Err(store::Error::Conflict { table, key: String::new() }.into());
    }
    lock_rows(surroundings, transaction, of, &found).await?;
    Err(errors::repeated(table, index, &found))
}

/// Locks the rows with a value, as far as they have not changed.
///
/// # Errors
/// Those of locks.
async fn lock_rows(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    (table, index): (&Arc<Table>, &Arc<Index>),
    value: &[ArrayRef],
) -> Result<()> {
    let view = transaction.table(table.id).ok_or_else(missing)?;
    let positions = index.plain_positions(table).ok_or_else(missing)?;
    let plan = lookup::plan(view, table, (&positions, &[]), value)?;
    let schema = table.arrow_schema();
    for batch in surroundings.rows(transaction, &plan).await? {
        let rows = RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec())?;
        let view = transaction.table(table.id).ok_or_else(missing)?;
        for keys in view.encode_keys(&rows)?.chunks(LOCKS_MAX) {
            transaction.lock_selected(table.id, keys, Mode::ForShare, LockPolicy::Wait).await?;
        }
    }
    Ok(())
}

/// Checks that no two rows of a table have the same values in a new index.
///
/// # Errors
/// 23505.
pub async fn check_all(
    surroundings: &impl Surroundings,
    transaction: &DistributedTransaction,
    table: &Arc<Table>,
    index: &Arc<Index>,
) -> Result<()> {
    match repeated(surroundings, transaction, (table, index), None).await? {
        Some(found) => Err(errors::repeated_in_new(table, index, &found)),
        None => Ok(()),
    }
}

/// Values that two rows have: the first of some values, or of all.
async fn repeated(
    surroundings: &impl Surroundings,
    transaction: &DistributedTransaction,
    (table, index): (&Arc<Table>, &Arc<Index>),
    values: Option<&[ArrayRef]>,
) -> Result<Option<Vec<ArrayRef>>> {
    let view = transaction.table(table.id).ok_or_else(missing)?;
    if view.row_count() == Some(0) {
        return Ok(None);
    }
    let positions = index.plain_positions(table).ok_or_else(missing)?;
    let source = provider_as_source(Arc::new(BucketTable::new(view, Columns::All)));
    let column = |at: usize| {
        Expr::Column(Column::new(Some(ROWS), table.columns[positions[at]].name.clone()))
    };
    let scan = LogicalPlanBuilder::scan(ROWS, source, None)?;
    let rows = match values {
        None => {
            (0..positions.len()).try_fold(scan, |scan, at| scan.filter(column(at).is_not_null()))?
        }
        Some(values) if tuples::len(values) <= VALUES_MAX => {
            scan.filter(condition(column, values)?)?
        }
        Some(values) => joined(scan, (0..positions.len()).map(column).collect(), values)?,
    };
    let (mut keys, mut counted) = (Vec::new(), vec![count(lit(1_i64)).alias("rows")]);
    for (at, position) in positions.iter().enumerate() {
        let value = column(at);
        keys.push(compared(value.clone(), &table.columns[*position].sql_type.arrow())?);
        // Of values that are equal, one is named.
        counted.push(min(value).alias(format!("v{at}")));
    }
    let counted = rows.aggregate(keys, counted)?;
    let several = counted.filter(Expr::Column(Column::from_name("rows")).gt(lit(1_i64)))?;
    let named = (0..positions.len()).map(|at| Expr::Column(Column::from_name(format!("v{at}"))));
    let plan = several.project(named.collect::<Vec<_>>())?.limit(0, Some(1))?.build()?;
    let batches = surroundings.rows(transaction, &plan).await?;
    let found = batches.into_iter().find(|batch| batch.num_rows() > 0);
    Ok(found.map(|batch| batch.columns().to_vec()))
}

/// The error for a deferrable constraint where one is needed that holds at any time.
pub(crate) fn is_deferrable(what: String) -> Error {
    Error::new(values::error::SqlState::ObjectNotInPrerequisiteState, what)
}
