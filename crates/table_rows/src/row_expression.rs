//! [`RowExpression`]: a CHECK condition or the value of a generated column.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::physical_expr::PhysicalExpr;
use executor::short_circuit;
use std::sync::{Arc, OnceLock};
use values::error::Result;

/// An expression over the rows of a table.
pub(crate) struct RowExpression {
    /// The expression as it was planned. Other servers understand it.
    planned: Arc<dyn PhysicalExpr>,
    /// The expression for several rows, whose AND and OR evaluate for each row what PostgreSQL would. It is made when it
    /// is needed first.
    of_many: OnceLock<Arc<dyn PhysicalExpr>>,
}

impl RowExpression {
    /// An expression of the engine.
    pub(crate) fn new(planned: Arc<dyn PhysicalExpr>) -> Self {
        Self { planned, of_many: OnceLock::new() }
    }

    /// The expression as it was planned.
    pub(crate) fn planned(&self) -> &Arc<dyn PhysicalExpr> {
        &self.planned
    }

    /// The value for each row.
    ///
    /// # Errors
    /// Those of the expression.
    pub(crate) fn values(&self, rows: &RecordBatch) -> Result<ArrayRef> {
        let count = rows.num_rows();
        // For a single row the engine skips operands itself.
        let expression = if count > 1 { self.of_many()? } else { &self.planned };
        Ok(expression.evaluate(rows)?.into_array(count)?)
    }

    fn of_many(&self) -> Result<&Arc<dyn PhysicalExpr>> {
        if let Some(known) = self.of_many.get() {
            return Ok(known);
        }
        let made = short_circuit(Arc::clone(&self.planned))?;
        Ok(self.of_many.get_or_init(|| made))
    }
}
