//! The statements of a trigger's function, in the transaction of the statement that fires it.

use super::call::{Deep, rows};
use super::statements::{done, termination};
use crate::analysis;
use crate::context::Inner;
use crate::row_locks;
use crate::session::run::Write;
use datafusion::common::ScalarValue;
use futures::FutureExt;
use parser::commands::Command;
use parser::{Body, Statement};
use planner::NamedParameter;
use procedural::{Compiled, Done, Statements};
use store::{DistributedSavepoint, DistributedTransaction};
use values::error::{Error, Result};

/// The transaction of a statement that fires a trigger.
pub(super) struct InTransaction<'a> {
    pub(super) inner: &'a Inner,
    pub(super) transaction: &'a mut DistributedTransaction,
    /// The functions around.
    pub(super) depth: usize,
}

impl InTransaction<'_> {
    async fn query(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        let frame = self.inner.frame_of(values, statement).with_names(names);
        let frame = frame.with_depth(self.depth);
        let reading = self.transaction.reading();
        self.inner.context.see(&reading, &frame);
        if row_locks::are_in(statement) {
            let (fields, rows) = row_locks::rows_of(&frame, self.transaction, statement).await?;
            let schema = Some(rows.schema());
            return Ok(Done { fields: Some(fields), schema, batches: vec![rows], count: 0 });
        }
        let planner = frame.planner(&reading);
        let query = analysis::query_of(statement)?;
        let (plan, fields) = analysis::plan(&frame, &planner, query).await?;
        let batches = rows(&planner, plan, limit).await?;
        let schema = batches.first().map(datafusion::arrow::array::RecordBatch::schema);
        Ok(Done { fields: Some(fields), schema, batches, count: 0 })
    }

    async fn write(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        write: Write<'_>,
    ) -> Result<Done> {
        let frame = self.inner.frame_of(values, statement).with_names(names);
        let frame = frame.with_depth(self.depth);
        let around = self.transaction.begin_nested();
        let applied = self.inner.apply(&frame, self.transaction, write).await;
        self.transaction.end_nested(around);
        done(applied?).await
    }
}

impl Statements for InTransaction<'_> {
    type Savepoint = DistributedSavepoint;

    async fn run(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        let write = match statement.body() {
            Body::Query => {
                return Deep::boxed(self.query(statement, names, values, limit).boxed()).await;
            }
            Body::Change => Write::Change,
            Body::Refused(error) => return Err(error.clone()),
            Body::Command(Command::Definition(definition))
                if definition.outside_transactions().is_none() =>
            {
                Write::Definition(definition)
            }
            Body::Command(Command::Role(role)) => Write::Role(role),
            Body::Command(Command::Notify(channel, payload)) => {
                use catalog_views::session_context::SessionContext;
                self.inner.context.notify(channel, payload)?;
                return Ok(Done { fields: None, schema: None, batches: Vec::new(), count: 0 });
            }
            Body::Command(_) => {
                let what = "this statement in the function of a trigger is not supported";
                return Err(Error::unsupported(what));
            }
        };
        Deep::boxed(self.write(statement, names, values, write).boxed()).await
    }

    async fn expression(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Compiled> {
        let frame = self.inner.frame_of(values, statement).with_names(names);
        let reading = self.transaction.reading();
        self.inner.context.see(&reading, &frame);
        let mut planner = frame.planner(&reading);
        planner.parameters = &[];
        let query = analysis::query_of(statement).ok()?;
        let planned = analysis::plan_without_values(&frame, &planner, query).await;
        let (plan, fields) = planned.ok()?;
        Compiled::of(&planner, &plan, &fields)
    }

    fn say(&mut self, severity: &'static str, error: Error) {
        use catalog_views::session_context::SessionContext;
        self.inner.context.say(severity, error);
    }

    fn savepoint(&mut self) -> Result<DistributedSavepoint> {
        Ok(self.transaction.savepoint())
    }

    async fn roll_back(&mut self, to: DistributedSavepoint) -> Result<()> {
        Ok(self.transaction.rollback_to(&to).await?)
    }

    async fn end_transaction(&mut self, _: bool) -> Result<()> {
        Err(termination())
    }

    fn check(&self) -> Result<()> {
        // The statement that fires the trigger is ended from outside, whenever others run.
        Ok(())
    }
}
