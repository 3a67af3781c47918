//! The triggers that fire at the end of a statement.

use super::firing::Firing;
use super::transitions::StatementRows;
use crate::context::Frame;
use crate::context::triggered::{Changed, ChangedRows};
use datafusion::arrow::array::RecordBatch;
use procedural::trigger_rows::of_arrays;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::{Catalog, TriggerTime};
use values::error::Result;

/// Fires the triggers after the changes that a statement has noted, in their order.
///
/// # Errors
/// Those of functions.
pub(crate) async fn fire_after(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
) -> Result<()> {
    let changes = std::mem::take(&mut *frame.changed.lock());
    let mut last: Option<(usize, Arc<Catalog>, Option<Firing>)> = None;
    for change in &changes {
        let Changed { table, operation, assigned, rows, part } = change;
        let catalog = transaction.catalog();
        if !matches!(&last, Some((of, known, _)) if of == part && Arc::ptr_eq(known, catalog)) {
            let mut firing = Firing::with_ids(catalog, table, *operation, Arc::clone(assigned));
            if let Some(firing) = &mut firing {
                let of_part = changes.iter().filter(|other| other.part == *part);
                let all = of_part.filter_map(|other| other.rows.clone()).collect();
                firing.see(&StatementRows { table, rows: all })?;
            }
            last = Some((*part, Arc::clone(catalog), firing));
        }
        let Some((_, _, Some(firing))) = &mut last else { continue };
        let Some(ChangedRows { old, new }) = rows else {
            let time = (false, TriggerTime::After);
            firing.fire(frame, transaction, time, (None, None)).await?;
            continue;
        };
        if !firing.has(true, TriggerTime::After) {
            continue;
        }
        let count = new.as_ref().or(old.as_ref()).map_or(0, RecordBatch::num_rows);
        for row in 0..count {
            let values = |batch: &RecordBatch| of_arrays(table, batch.columns(), row);
            let rows =
                (old.as_ref().map(values).transpose()?, new.as_ref().map(values).transpose()?);
            firing.fire(frame, transaction, (true, TriggerTime::After), rows).await?;
            tokio::task::consume_budget().await;
        }
    }
    Ok(())
}
