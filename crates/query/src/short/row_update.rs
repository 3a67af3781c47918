//! An UPDATE of rows: sets columns of the rows, checks the constraints and writes the rows.

use datafusion::arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::compute::take;
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

/// The assignments of an UPDATE.
pub(crate) struct RowUpdate {
    pub(super) table: Arc<Table>,
    /// Columns that are set to a constant or a parameter.
    pub(super) given: Vec<usize>,
    /// Parameters and the time in the expressions of `computed`.
    pub(super) inputs: Inputs,
    /// Columns that are set to an expression over the row and the inputs.
    pub(super) computed: Vec<(usize, Arc<dyn PhysicalExpr>)>,
    pub(super) constraints: Constraints,
}

impl RowUpdate {
    /// Updates the row of a key, and returns the new row if there is one. `given` has the values of the columns
    /// `self.given`, in their types, followed by those of the inputs.
    ///
    /// # Errors
    /// Those of UPDATE.
    pub(super) async fn apply(
        &self,
        transaction: &mut DistributedTransaction,
        key: &Key,
        given: &[ArrayRef],
    ) -> Result<Option<RecordBatch>> {
        let all: Vec<usize> = (0..self.table.columns.len()).collect();
        let Some(view) = transaction.table(self.table.id) else { return Ok(None) };
        let Some(values) = view.find(key, &all).await? else { return Ok(None) };
        let row = RecordBatch::try_new(self.table.arrow_schema(), values)?;
        self.write(transaction, &row, given).await.map(Some)
    }

    /// Writes the new rows in the place of `rows`, and returns them. `given` is as for [`Self::apply`].
    ///
    /// # Errors
    /// Those of UPDATE.
    pub(super) async fn write(
        &self,
        transaction: &mut DistributedTransaction,
        rows: &RecordBatch,
        given: &[ArrayRef],
    ) -> Result<RecordBatch> {
        let count = rows.num_rows();
        let given = given.iter().map(|value| repeated(value, count)).collect::<Result<Vec<_>>>()?;
        let mut columns = rows.columns().to_vec();
        if !self.computed.is_empty() {
            let inputs = given.get(self.given.len()..).unwrap_or_default();
            let rows = self.with_inputs(typed_rows(&self.table, rows)?, inputs)?;
            for (column, expression) in &self.computed {
                let value = expression.evaluate(&rows)?.into_array(count)?;
                columns[*column] =
                    assign(&value, &self.table.columns[*column], self.constraints.style())?;
            }
        }
        for (column, value) in self.given.iter().zip(given) {
            columns[*column] = value;
        }
        let new = self.constraints.batch(columns)?;
        transaction.upsert(self.table.id, &new).await?;
        Ok(new)
    }

    /// The rows, with the inputs as further columns.
    fn with_inputs(&self, rows: RecordBatch, inputs: &[ArrayRef]) -> Result<RecordBatch> {
        if inputs.is_empty() {
            return Ok(rows);
        }
        let (schema, fields) = (rows.schema(), self.inputs.fields());
        let fields: Vec<FieldRef> = schema.fields().iter().chain(&fields).cloned().collect();
        let columns = rows.columns().iter().chain(inputs).cloned().collect();
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }
}

/// The only value of an array, `count` times.
fn repeated(value: &ArrayRef, count: usize) -> Result<ArrayRef> {
    match count {
        1 => Ok(Arc::clone(value)),
        count => Ok(take(value, &UInt32Array::from(vec![0; count]), None)?),
    }
}
