//! The rows that a statement has changed, as tables that the functions of triggers read.

use crate::context::triggered::{ChangedRows, Transitions};
use datafusion::arrow::array::RecordBatch;
use datafusion::datasource::{MemTable, TableProvider};
use scan::provider::row_schema;
use std::sync::Arc;
use store::catalog::{Table, Trigger};
use values::error::Result;

/// The rows of a table that a change has changed.
pub(super) struct StatementRows<'a> {
    pub(super) table: &'a Table,
    pub(super) rows: Vec<ChangedRows>,
}

impl StatementRows<'_> {
    /// The rows by the names that a trigger has for them.
    ///
    /// # Errors
    /// They are not those of the table.
    pub(super) fn named_by(&self, trigger: &Trigger) -> Result<Transitions> {
        let old = self.rows.iter().filter_map(|rows| rows.old.as_ref());
        let new = self.rows.iter().filter_map(|rows| rows.new.as_ref());
        let (old, new) = (old.collect::<Vec<_>>(), new.collect::<Vec<_>>());
        let named = [(&trigger.old_table, old), (&trigger.new_table, new)];
        let named = named.into_iter().filter_map(|(name, rows)| Some((name.clone()?, rows)));
        named.map(|(name, rows)| Ok((name, self.relation(&rows)?))).collect()
    }

    /// Rows without the columns that statements do not see.
    fn relation(&self, rows: &[&RecordBatch]) -> Result<Arc<dyn TableProvider>> {
        let columns = self.table.columns.iter().enumerate();
        let shown: Vec<usize> =
            columns.filter(|(_, column)| !column.hidden).map(|(at, _)| at).collect();
        let schema = Arc::new(row_schema(self.table).project(&shown)?);
        let batch = |rows: &&RecordBatch| {
            let columns = shown.iter().map(|at| Arc::clone(rows.column(*at))).collect();
            Ok(RecordBatch::try_new(Arc::clone(&schema), columns)?)
        };
        let batches = rows.iter().map(batch).collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(MemTable::try_new(schema, vec![batches])?))
    }
}
