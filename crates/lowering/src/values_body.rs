//! VALUES.

use crate::names;
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::tree::{Column, Expr};
use datafusion::logical_expr::{Expr as Engine, LogicalPlan, LogicalPlanBuilder};

impl Lowering<'_> {
    /// The rows of VALUES.
    pub(crate) fn values_rows(
        &mut self,
        rows: &[Vec<Expr>],
        columns: &[Column],
    ) -> Result<LogicalPlan> {
        let mut by_column: Vec<Vec<Typed>> = vec![Vec::with_capacity(rows.len()); columns.len()];
        self.in_frame(|lowering| {
            for row in rows {
                for (values, cell) in by_column.iter_mut().zip(row) {
                    values.push(lowering.expr(cell)?);
                }
            }
            Ok(())
        })?;
        let mut cells: Vec<std::vec::IntoIter<Typed>> = Vec::with_capacity(columns.len());
        for (values, column) in by_column.into_iter().zip(columns) {
            cells.push(self.together(values, column.sql_type)?.into_iter());
        }
        let row = |_| cells.iter_mut().filter_map(|cell| Some(cell.next()?.expr)).collect();
        let rows: Vec<Vec<Engine>> = (0..rows.len()).map(row).collect();
        let plan = LogicalPlanBuilder::values(rows)?.build()?;
        let names = names::unique(columns.iter().map(|column| &*column.name));
        let own = plan.schema().columns();
        if own.iter().map(|column| &column.name).eq(&names) {
            return Ok(plan);
        }
        let renamed =
            own.into_iter().zip(names).map(|(column, name)| Engine::Column(column).alias(name));
        let renamed: Vec<Engine> = renamed.collect();
        Ok(LogicalPlanBuilder::from(plan).project(renamed)?.build()?)
    }
}
