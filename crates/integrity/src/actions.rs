//! Referential actions: what happens to the rows that refer to a row.

use crate::lookup;
use crate::surroundings::Surroundings;
use crate::tuples;
use datafusion::arrow::array::{ArrayRef, RecordBatch, UInt32Array, new_null_array};
use datafusion::arrow::compute::take;
use sdds::Key;
use std::collections::HashMap;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{ForeignKey, ReferentialAction, Table};
use values::error::Result;

/// Carries an action out for rows that were deleted, or have got new values. The values are those
/// of the referenced columns.
///
/// # Errors
/// Those of the changes.
pub(crate) async fn carry_out(
    surroundings: &impl Surroundings,
    transaction: &mut DistributedTransaction,
    (table, key): (&Arc<Table>, &ForeignKey),
    old: &[ArrayRef],
    new: Option<&[ArrayRef]>,
) -> Result<()> {
    let rows = lookup::referring(surroundings, transaction, (table, key), old).await?;
    if rows.num_rows() == 0 {
        return Ok(());
    }
    let action = if new.is_some() { key.on_update } else { key.on_delete };
    let set: Vec<ArrayRef> = match (action, new) {
        (ReferentialAction::Cascade, None) => {
            return surroundings.delete(transaction, table, rows).await;
        }
        (ReferentialAction::Cascade, Some(new)) => {
            let ignoring = tuples::ignoring_blanks(transaction.catalog(), table, key);
            following((table, key, &ignoring), &rows, old, new)?
        }
        (ReferentialAction::SetDefault, _) => {
            let default = |at| surroundings.defaults(transaction, table, at, rows.num_rows());
            key.positions(table).into_iter().map(default).collect::<Result<_>>()?
        }
        _ => {
            let null =
                |at: &usize| new_null_array(&table.columns[*at].sql_type.arrow(), rows.num_rows());
            key.positions(table).iter().map(null).collect()
        }
    };
    let mut columns = rows.columns().to_vec();
    let mut assigned = Vec::new();
    for ((id, at), value) in key.columns.iter().zip(key.positions(table)).zip(set) {
        let is_set =
            new.is_some() || key.on_delete_set.is_empty() || key.on_delete_set.contains(id);
        if is_set {
            assigned.push(at);
            columns[at] = value;
        }
    }
    surroundings.update(transaction, table, (rows, columns), &assigned).await
}

/// The new values of the rows that refer to old ones.
fn following(
    (table, key, ignoring): (&Table, &ForeignKey, &[bool]),
    rows: &RecordBatch,
    old: &[ArrayRef],
    new: &[ArrayRef],
) -> Result<Vec<ArrayRef>> {
    let positions = key.positions(table);
    let types = tuples::types(table, &positions);
    let (old, kept) = tuples::converted(old, &types)?;
    let old = tuples::keys(&old)?;
    let places: HashMap<&Key, usize> = old.iter().zip(kept).collect();
    let now: Vec<ArrayRef> = positions.iter().map(|at| Arc::clone(rows.column(*at))).collect();
    let now = tuples::keys(&tuples::trimmed(&now, ignoring))?;
    let place = |key: &Key| places.get(key).map(|at| *at as u32);
    let order: UInt32Array = now.iter().map(place).collect();
    let mut following = Vec::with_capacity(new.len());
    for (values, at) in new.iter().zip(positions) {
        let values = values::assign::assign(
            &take(values, &order, None)?,
            &table.columns[at],
            values::style::Style::default(),
        )?;
        following.push(values);
    }
    Ok(following)
}
