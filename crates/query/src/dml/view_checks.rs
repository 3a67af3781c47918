//! WITH CHECK OPTION: rows that are written through a view must be rows of it.

use super::writer::Writer;
use crate::analysis::changes::Checks;
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use planner::Planner;
use std::sync::Arc;
use store::catalog::Table;
use table_rows::describe_row;
use values::error::{Error, Result, SqlState};

/// The conditions of the views through which a statement writes rows.
pub(super) struct ViewChecks {
    table: Arc<Table>,
    checks: Checks,
}

impl ViewChecks {
    pub(super) fn new(table: Arc<Table>, checks: Checks) -> Self {
        Self { table, checks }
    }

    /// Checks the rows that a statement has written.
    ///
    /// # Errors
    /// 44000 for a row that is none of a view; those of the conditions.
    pub(super) async fn check(
        &self,
        planner: &Planner<'_>,
        writer: &mut Writer<'_>,
        written: &[Vec<ArrayRef>],
    ) -> Result<()> {
        for columns in written {
            let hold = writer.values(planner, &self.checks.conditions, columns).await?;
            for row in 0..hold.num_rows() {
                let fails = |holds: &ArrayRef| {
                    let holds = holds.as_boolean();
                    holds.is_null(row) || !holds.value(row)
                };
                if let Some(at) = hold.columns().iter().position(fails) {
                    return Err(self.violated(at, columns, row));
                }
            }
        }
        Ok(())
    }

    fn violated(&self, at: usize, columns: &[ArrayRef], row: usize) -> Error {
        let view = &self.checks.views[at];
        let message = format!("new row violates check option for view \"{view}\"");
        Error::new(SqlState::chosen("44000"), message).with_detail(describe_row(
            &self.table,
            columns,
            row,
        ))
    }
}
