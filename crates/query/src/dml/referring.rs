//! Changes of rows that refer to others, as the actions of foreign keys make them.

use super::triggered::{self, Firings, of_rows};
use super::writer::Writer;
use crate::context::Frame;
use crate::triggers::Firing;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use std::sync::Arc;
use store::catalog::{Table, TriggerEvent};
use store::{DistributedTransaction, TableView};
use table_rows::Constraints;
use values::error::{Error, Result, SqlState};

fn view_of(transaction: &DistributedTransaction, table: &Table) -> Result<TableView> {
    let gone = || Error::new(SqlState::UndefinedTable, "a table that refers to others is gone");
    transaction.table(table.id).ok_or_else(gone)
}

/// Deletes rows.
///
/// # Errors
/// Those of triggers and of the transaction.
pub(crate) async fn delete(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &Arc<Table>,
    rows: RecordBatch,
) -> Result<()> {
    let view = view_of(transaction, table)?;
    let delete = Firing::of(transaction.catalog(), table, TriggerEvent::Delete, &[]);
    let mut firings = Firings { delete, ..Firings::default() };
    let mut writer = Writer::new(transaction, false);
    firings.before(frame, &mut writer).await?;
    match of_rows(&mut firings.delete) {
        Some(firing) => {
            triggered::delete(firing, frame, &mut writer, &view, rows.columns()).await?;
        }
        None => writer.delete(&view, view.encode_keys(&rows)?).await?,
    }
    firings.after(frame);
    Ok(())
}

/// Gives rows new values, which are not checked yet, in columns at the `assigned` positions.
///
/// # Errors
/// Those of constraints, triggers and the transaction.
pub(crate) async fn update(
    frame: &Frame<'_>,
    transaction: &mut DistributedTransaction,
    table: &Arc<Table>,
    (old, new): (RecordBatch, Vec<ArrayRef>),
    assigned: &[usize],
) -> Result<()> {
    let view = view_of(transaction, table)?;
    let constraints = Arc::new(Constraints::new(&frame.planner(transaction), table)?);
    let update = Firing::of(transaction.catalog(), table, TriggerEvent::Update, assigned);
    let mut firings = Firings { update, ..Firings::default() };
    let mut writer = Writer::new(transaction, false);
    firings.before(frame, &mut writer).await?;
    match of_rows(&mut firings.update) {
        Some(firing) => {
            let (target, rows) = ((&view, &constraints), (old.columns(), &new[..]));
            triggered::update(firing, frame, &mut writer, target, rows).await?;
        }
        None => {
            let rows = constraints.batch(new)?;
            match assigned.iter().any(|at| table.key_indices().contains(at)) {
                true => writer.replace(&view, view.encode_keys(&old)?, vec![rows]).await?,
                false => writer.upsert(&view, rows).await?,
            }
        }
    }
    firings.after(frame);
    Ok(())
}
