//! The statements of a trigger's function, in the transaction of the statement that fires it.

use super::call::{of_batches, rows, value_of};
use crate::analysis;
use crate::analysis::calls::Calls;
use crate::calls::identity;
use crate::context::call_site::DEPTH_MAX;
use crate::context::held::Held;
use crate::context::triggered::Transitions;
use crate::context::{Frame, Inner};
use crate::repeated::{rows_again, rows_of};
use crate::row_locks;
use crate::session::run::Write;
use analyzer::system::Oid;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use futures::FutureExt;
use futures::future::BoxFuture;
use parser::commands::Command;
use parser::{Body, Statement};
use planner::NamedParameter;
use procedural::{Compiled, Done, Scalar, Statements, Value, deep, reads_tables};
use std::sync::Arc;
use store::catalog::{Function, RelationId};
use store::{DistributedSavepoint, DistributedTransaction};
use values::error::{Error, Result, SqlState};

/// The transaction of a statement that fires a trigger.
pub(super) struct InTransaction<'a> {
    pub(super) inner: &'a Inner,
    pub(super) transaction: &'a mut DistributedTransaction,
    /// All rows of the statement, if the trigger has names for them.
    pub(super) transitions: Transitions,
    /// The functions around.
    pub(super) depth: usize,
}

impl<'t> InTransaction<'t> {
    /// The surroundings of a statement.
    fn frame<'f>(
        &self,
        statement: &'f Statement,
        names: &'f [NamedParameter],
        values: &'f [ScalarValue],
    ) -> Frame<'f>
    where
        't: 'f,
    {
        let frame = self.inner.frame_of(values, statement).with_names(names);
        frame.with_depth(self.depth).with_transitions(Arc::clone(&self.transitions))
    }

    /// Runs a query, after the functions that it calls.
    fn query<'b>(
        &'b mut self,
        statement: &'b Statement,
        names: &'b [NamedParameter],
        values: &'b [ScalarValue],
        limit: Option<usize>,
    ) -> BoxFuture<'b, Result<Done>> {
        let done = async move {
            let reading = self.transaction.reading();
            if self.transitions.is_empty()
                && let Some(done) =
                    rows_again(self.inner, &reading, statement, (names, values), limit)?
            {
                return Ok(done);
            }
            let frame = self.frame(statement, names, values);
            self.inner.context.see(&reading, &frame);
            if row_locks::are_in(statement) {
                let locked = row_locks::rows_of(&frame, self.transaction, statement).await?;
                return Ok(of_batches(locked.0, vec![locked.1]));
            }
            if let Some(done) = rows_of(self.inner, &frame, statement, &reading, limit).await? {
                return Ok(done);
            }
            let query = analysis::query_of(statement)?;
            let is_called =
                |of: &Arc<Function>| of.language != "sql" && of.result_id != Oid::TRIGGER.0;
            let has_functions = reading.catalog().functions().any(is_called);
            let calls = match has_functions {
                true => Calls::of(&frame.planner(&reading), query, frame.text).await?,
                false => None,
            };
            let Some(calls) = calls else {
                let planner = frame.planner(&reading);
                let (plan, fields) = analysis::plan(&frame, &planner, query).await?;
                return Ok(of_batches(fields, rows(&planner, plan, limit).await?));
            };
            let mut values = values.to_vec();
            for (call, id) in calls.functions().into_iter().enumerate() {
                let mut planner = frame.planner(&reading);
                planner.parameters = &values;
                let plan = calls.arguments(&planner, call, frame.text)?;
                let batches = rows(&planner, plan, None).await?;
                let batch = batches.iter().find(|batch| batch.num_rows() == 1);
                let arguments = batch.into_iter().flat_map(RecordBatch::columns);
                let arguments = arguments.map(|array| ScalarValue::try_from_array(array, 0));
                let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
                values.push(self.call(id, arguments).await?.scalar);
            }
            let reading = self.transaction.reading();
            let mut planner = frame.planner(&reading);
            planner.parameters = &values;
            let (plan, fields) = calls.plan(&planner, frame.text)?;
            Ok(of_batches(fields, rows(&planner, plan, limit).await?))
        };
        deep(done.boxed())
    }

    /// The value of a function that a trigger's function calls.
    async fn call(&mut self, id: RelationId, arguments: Vec<ScalarValue>) -> Result<Value> {
        if self.depth >= DEPTH_MAX {
            return Err(Error::new(SqlState::StatementTooComplex, "stack depth limit exceeded"));
        }
        let catalog = Arc::clone(self.transaction.catalog());
        let kept = self.inner.function(&catalog, id)?;
        let statement = self.inner.borrowed.statement();
        let _identity = identity(self.inner, statement, &catalog, &kept.prepared.function)?;
        let inside = InTransaction {
            inner: self.inner,
            transaction: self.transaction,
            transitions: Arc::from([]),
            depth: self.depth + 1,
        };
        value_of(&kept, arguments, inside).await
    }

    async fn write(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        write: Write<'_>,
    ) -> Result<Done> {
        let frame = self.frame(statement, names, values);
        let around = self.transaction.begin_nested();
        let applied = self.inner.apply(&frame, self.transaction, write).await;
        self.transaction.end_nested(around);
        applied?.done().await
    }
}

impl Statements for InTransaction<'_> {
    type Savepoint = DistributedSavepoint;
    type Held = Held;

    async fn run(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
        limit: Option<usize>,
    ) -> Result<Done> {
        let write = match statement.body() {
            Body::Query => return self.query(statement, names, values, limit).await,
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
        deep(self.write(statement, names, values, write).boxed()).await
    }

    async fn scalar(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Scalar> {
        let frame = self.frame(statement, names, values);
        let reading = self.transaction.reading();
        let planner = frame.planner(&reading);
        let query = analysis::query_of(statement).ok()?;
        let tree = Box::pin(analysis::tree_without_values(&frame, &planner, query)).await.ok()?;
        Scalar::of(&tree, names)
    }

    async fn expression(
        &mut self,
        statement: &Statement,
        names: &[NamedParameter],
        values: &[ScalarValue],
    ) -> Option<Compiled> {
        let frame = self.frame(statement, names, values);
        let reading = self.transaction.reading();
        if reads_tables(reading.catalog(), statement) {
            return None;
        }
        self.inner.context.see(&reading, &frame);
        let mut planner = frame.planner(&reading);
        planner.parameters = &[];
        let query = analysis::query_of(statement).ok()?;
        let planned = analysis::plan_without_values(&frame, &planner, query).await;
        let (plan, fields) = planned.ok()?;
        Compiled::of(&planner, &plan, &fields)
    }

    fn held(&self) -> Result<Arc<Held>> {
        Ok(Arc::clone(&self.inner.context.held))
    }

    fn say(&mut self, severity: &'static str, error: Error) {
        use catalog_views::session_context::SessionContext;
        self.inner.context.say(severity, error);
    }

    async fn savepoint(&mut self) -> Result<DistributedSavepoint> {
        Ok(self.transaction.savepoint())
    }

    async fn roll_back(&mut self, to: DistributedSavepoint) -> Result<()> {
        Ok(self.transaction.rollback_to(&to).await?)
    }

    fn check(&self) -> Result<()> {
        // The statement that fires the trigger is ended from outside, whenever others run.
        Ok(())
    }
}
