//! Loads into tables with triggers: their rows are written as those of INSERT.

use super::triggered::{self, Firings, of_rows};
use super::writer::Writer;
use crate::context::Frame;
use crate::triggers::Firing;
use datafusion::arrow::array::ArrayRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::TryStreamExt;
use std::sync::Arc;
use store::catalog::{Table, TriggerEvent};
use store::{DistributedTransaction, TableView};
use table_rows::Assembly;
use table_rows::Constraints;
use values::error::Result;

/// A load into a table with triggers.
pub(crate) struct FiringLoad {
    view: TableView,
    firings: Firings,
}

impl FiringLoad {
    /// Begins a load, and fires the triggers before it. `None` if the load fires nothing.
    ///
    /// # Errors
    /// Those of functions.
    pub(crate) async fn begin(
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        table: &Arc<Table>,
    ) -> Result<Option<Self>> {
        let insert = Firing::of(transaction.catalog(), table, TriggerEvent::Insert, &[]);
        let view = transaction.table(table.id).filter(|_| insert.is_some());
        let Some(view) = view else { return Ok(None) };
        let mut firings = Firings { insert, ..Firings::default() };
        firings.before(frame, &mut Writer::new(transaction, false)).await?;
        Ok(Some(Self { view, firings }))
    }

    /// Writes rows, which are not checked yet, and returns how many were written.
    ///
    /// # Errors
    /// Those of functions, of constraints and of the transaction.
    pub(crate) async fn write(
        &mut self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        columns: Vec<ArrayRef>,
        constraints: &Arc<Constraints>,
    ) -> Result<u64> {
        let mut writer = Writer::new(transaction, false);
        if let Some(firing) = of_rows(&mut self.firings.insert) {
            let target = (&self.view, constraints);
            let written = triggered::insert(firing, frame, &mut writer, target, columns).await?;
            return Ok(written.places.len() as u64);
        }
        let rows = constraints.batch(columns)?;
        let count = rows.num_rows() as u64;
        writer.insert(&self.view, rows).await?;
        Ok(count)
    }

    /// Ends the load: triggers after it fire at the end of the statement.
    pub(crate) fn finish(mut self, frame: &Frame<'_>) {
        self.firings.after(frame);
    }

    /// Writes all rows of a stream, ends the load, and returns how many were written.
    ///
    /// # Errors
    /// As of [`Self::write`].
    pub(crate) async fn run(
        mut self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        mut stream: SendableRecordBatchStream,
        assembly: &Assembly,
    ) -> Result<u64> {
        let mut count = 0;
        while let Some(batch) = stream.try_next().await? {
            let columns = assembly.columns(&batch)?;
            count += self.write(frame, transaction, columns, assembly.constraints()).await?;
        }
        self.finish(frame);
        Ok(count)
    }
}
