//! What foreign keys need of the statement that runs.

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::logical_expr::LogicalPlan;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Table;
use values::error::Result;

/// The surroundings of a statement, as foreign keys need them.
pub trait Surroundings: Sync {
    /// Returns the rows of a plan, whatever the privileges of the user.
    ///
    /// # Errors
    /// Those of the plan.
    fn rows(
        &self,
        transaction: &DistributedTransaction,
        plan: &LogicalPlan,
    ) -> impl Future<Output = Result<Vec<RecordBatch>>> + Send;

    /// Returns rows with all columns of a table, with the values of generated columns.
    ///
    /// # Errors
    /// 23502 and 23514 if they violate constraints.
    fn checked(
        &self,
        transaction: &DistributedTransaction,
        table: &Arc<Table>,
        columns: Vec<ArrayRef>,
    ) -> Result<RecordBatch>;

    /// Deletes rows that refer to one that is gone.
    ///
    /// # Errors
    /// Those of the change.
    fn delete(
        &self,
        transaction: &mut DistributedTransaction,
        table: &Arc<Table>,
        rows: RecordBatch,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Gives rows that refer to one new values, in columns at the `assigned` positions.
    ///
    /// # Errors
    /// Those of the change.
    fn update(
        &self,
        transaction: &mut DistributedTransaction,
        table: &Arc<Table>,
        rows: (RecordBatch, Vec<ArrayRef>),
        assigned: &[usize],
    ) -> impl Future<Output = Result<()>> + Send;

    /// Allocates row ids for tables without a primary key, and returns the first.
    fn row_ids(&self, count: u64) -> i64;

    /// Returns the default of a column, at a position, for a number of rows.
    ///
    /// # Errors
    /// Those of its expression.
    fn defaults(
        &self,
        transaction: &DistributedTransaction,
        table: &Table,
        column: usize,
        rows: usize,
    ) -> Result<ArrayRef>;
}
