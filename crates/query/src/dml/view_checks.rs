//! The rows of a view: those that are written through it WITH CHECK OPTION, and those that DO UPDATE changes through it.

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
            if let Some((row, view)) = failing(&self.checks, planner, writer, columns).await? {
                return Err(self.violated(view, columns, row));
            }
        }
        Ok(())
    }

    fn violated(&self, view: &str, columns: &[ArrayRef], row: usize) -> Error {
        let message = format!("new row violates check option for view \"{view}\"");
        Error::new(SqlState::chosen("44000"), message).with_detail(describe_row(
            &self.table,
            columns,
            row,
        ))
    }
}

/// Checks that rows, which DO UPDATE is about to change through views, are rows of them.
///
/// # Errors
/// 55000 for a row that a view does not show; those of the conditions.
pub(super) async fn refuse_hidden(
    visible: &Checks,
    planner: &Planner<'_>,
    writer: &mut Writer<'_>,
    rows: &[ArrayRef],
) -> Result<()> {
    let Some((_, view)) = failing(visible, planner, writer, rows).await? else { return Ok(()) };
    let message = format!("conflicting row is not visible through view \"{view}\"");
    Err(Error::new(SqlState::chosen("55000"), message))
}

/// The first row that is none of a view, and the name of the view.
async fn failing<'a>(
    checks: &'a Checks,
    planner: &Planner<'_>,
    writer: &mut Writer<'_>,
    rows: &[ArrayRef],
) -> Result<Option<(usize, &'a str)>> {
    let hold = writer.values(planner, &checks.conditions, rows).await?;
    for row in 0..hold.num_rows() {
        let fails = |holds: &ArrayRef| {
            let holds = holds.as_boolean();
            holds.is_null(row) || !holds.value(row)
        };
        let failing = hold.columns().iter().zip(&checks.views).find(|(holds, _)| fails(holds));
        if let Some((_, view)) = failing {
            return Ok(Some((row, view.as_str())));
        }
    }
    Ok(None)
}
