//! An UPDATE of one row by its key: reads the row, sets columns, checks the constraints and writes
//! the row.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::physical_expr::PhysicalExpr;
use planner::inputs::Inputs;
use scan::provider::typed_rows;
use sdds::Key;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Table;
use table_rows::Constraints;
use values::assign::assign;
use values::error::Result;

/// The assignments of an UPDATE of one row.
pub(crate) struct RowUpdate {
    pub(super) table: Arc<Table>,
    /// Columns that are set to a constant or a parameter.
    pub(super) given: Vec<usize>,
    /// Parameters in the expressions of `computed`.
    pub(super) inputs: Inputs,
    /// Columns that are set to an expression over the row and the inputs.
    pub(super) computed: Vec<(usize, Arc<dyn PhysicalExpr>)>,
    pub(super) constraints: Constraints,
}

impl RowUpdate {
    /// Updates the row of a key, and returns the number of updated rows: 0 or 1. `given` has the
    /// values of the columns `self.given`, in their types, followed by those of the inputs.
    ///
    /// # Errors
    /// Those of UPDATE.
    pub(super) async fn apply(
        &self,
        transaction: &mut DistributedTransaction,
        key: &Key,
        given: &[ArrayRef],
    ) -> Result<u64> {
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        let Some(view) = transaction.table(self.table.id) else { return Ok(0) };
        let Some(values) = view.find(key, &all).await? else { return Ok(0) };
        let row = RecordBatch::try_new(self.table.arrow_schema(), values)?;
        let mut columns = row.columns().to_vec();
        if !self.computed.is_empty() {
            let inputs = given.get(self.given.len()..).unwrap_or_default();
            let row = self.with_inputs(typed_rows(&self.table, &row)?, inputs)?;
            for (column, expression) in &self.computed {
                let value = expression.evaluate(&row)?.into_array(1)?;
                columns[*column] =
                    assign(&value, &self.table.columns[*column], self.constraints.style())?;
            }
        }
        for (column, value) in self.given.iter().zip(given) {
            columns[*column] = Arc::clone(value);
        }
        transaction.upsert(self.table.id, &self.constraints.batch(columns)?).await?;
        Ok(1)
    }

    /// The row, with the inputs as further columns.
    fn with_inputs(&self, row: RecordBatch, inputs: &[ArrayRef]) -> Result<RecordBatch> {
        if inputs.is_empty() {
            return Ok(row);
        }
        let (schema, fields) = (row.schema(), self.inputs.fields());
        let fields: Vec<FieldRef> = schema.fields().iter().chain(&fields).cloned().collect();
        let columns = row.columns().iter().chain(inputs).cloned().collect();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }
}
