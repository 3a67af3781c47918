//! Statements as foreign keys see them, and their checks at the end of transactions.

use crate::context::transactions::{Conversation, Waiting, rolled_back};
use crate::context::{Frame, Inner, start};
use crate::dml::referring;
use crate::triggers;
use catalog_views::session_context::TransactionStatus;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::logical_expr::LogicalPlan;
use futures::TryStreamExt;
use integrity::Surroundings;
use std::sync::Arc;
use store::DistributedTransaction;
use store::catalog::Table;
use table_rows::Constraints;
use table_rows::default_values::DefaultValue;
use values::assign::assign;
use values::error::Result;

impl Surroundings for Frame<'_> {
    async fn rows(
        &self,
        transaction: &DistributedTransaction,
        plan: &LogicalPlan,
    ) -> Result<Vec<RecordBatch>> {
        let physical = self.planner(transaction).physical(plan).await?;
        Ok(start(self, physical)?.try_collect().await?)
    }

    fn checked(
        &self,
        transaction: &DistributedTransaction,
        table: &Arc<Table>,
        columns: Vec<ArrayRef>,
    ) -> Result<RecordBatch> {
        Constraints::new(&self.planner(transaction), table)?.batch(columns)
    }

    async fn delete(
        &self,
        transaction: &mut DistributedTransaction,
        table: &Arc<Table>,
        rows: RecordBatch,
    ) -> Result<()> {
        referring::delete(self, transaction, table, rows).await
    }

    async fn update(
        &self,
        transaction: &mut DistributedTransaction,
        table: &Arc<Table>,
        rows: (RecordBatch, Vec<ArrayRef>),
        assigned: &[usize],
    ) -> Result<()> {
        referring::update(self, transaction, table, rows, assigned).await
    }

    fn row_ids(&self, count: u64) -> i64 {
        self.session.shared.store.allocate_row_ids(count)
    }

    fn defaults(
        &self,
        transaction: &DistributedTransaction,
        table: &Table,
        column: usize,
        rows: usize,
    ) -> Result<ArrayRef> {
        let planner = self.planner(transaction);
        let value = DefaultValue::of(&planner, table, column)?.values(rows)?;
        assign(&value, &table.columns[column], planner.style())
    }
}

impl Inner {
    /// Checks what waits for the end of the open transaction, which is rolled back if that fails. In READ COMMITTED the
    /// checks see what other transactions have committed until now.
    ///
    /// # Errors
    /// 23503 and 23505 for a violation; those of locks.
    pub(crate) async fn check_deferred(&self, conversation: &mut Conversation) -> Result<()> {
        if conversation.status() == TransactionStatus::Failed {
            return Ok(());
        }
        if !conversation.has_unchecked() && self.context.held.nothing_waits() {
            return Ok(());
        }
        let checked = self.check_open(conversation).await;
        checked.inspect_err(|_| conversation.rollback())
    }

    async fn check_open(&self, conversation: &mut Conversation) -> Result<()> {
        let waiting = self.waiting();
        let Some(open) = conversation.statement(waiting).await? else { return Ok(()) };
        let frame = self.frame(&[], "");
        self.context.see(&open.transaction, &frame);
        triggers::fire_all(&frame, &mut open.transaction).await?;
        let all = true;
        self.settle_waiting(&frame, &mut open.transaction, waiting, all).await
    }

    /// Looks at the changes of a statement; if `all`, also at what waits for the end of the transaction. Does so again
    /// whenever it meets changes of other transactions.
    ///
    /// # Errors
    /// As of [`integrity::settle_all`].
    pub(crate) async fn settle_waiting(
        &self,
        frame: &Frame<'_>,
        transaction: &mut DistributedTransaction,
        waiting: Waiting,
        all: bool,
    ) -> Result<()> {
        loop {
            let before = transaction.savepoint();
            let settled = match all {
                true => integrity::settle_all(frame, transaction).await,
                false => integrity::settle(frame, transaction).await,
            };
            let Err(error) = settled else { return Ok(()) };
            if !transaction.is_locking() {
                return Err(error);
            }
            rolled_back(transaction, &before, error, waiting).await?;
            self.context.see(transaction, frame);
        }
    }
}
