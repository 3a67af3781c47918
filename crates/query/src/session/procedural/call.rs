//! Queries of functions and DO blocks, and calls that are made before a query that has their values.

use super::statements::InSession;
use crate::analysis;
use crate::analysis::calls::Calls;
use crate::calls::identity;
use crate::context::Inner;
use crate::context::call_site::{CallSite, DEPTH_MAX};
use crate::context::kept_functions::KeptFunction;
use crate::repeated::rows_of;
use crate::served::{Serves, collected};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::collect;
use futures::FutureExt;
use futures::future::BoxFuture;
use parser::Statement;
use planner::{NamedParameter, Planner, values_of};
use procedural::{Around, Done, Statements, Value, deep, function_value};
use store::Reading;
use store::catalog::RelationId;
use values::error::{Error, Result, SqlState};

impl Serves for InSession<'_> {
    fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
    }
}

impl InSession<'_> {
    /// Runs a query at a snapshot, and the functions that it calls.
    pub(super) fn query<'b>(
        &'b mut self,
        mut reading: Reading,
        statement: &'b Statement,
        (names, values): (&'b [NamedParameter], &'b [ScalarValue]),
        limit: Option<usize>,
    ) -> BoxFuture<'b, Result<Done>> {
        async move {
            let inner = self.inner;
            let (site, mut requests) = CallSite::with_driver(self.depth);
            let frame = inner.frame_of(values, statement).with_names(names).at(site.clone());
            let query = analysis::query_of(statement)?;
            inner.context.see(&reading, &frame);
            if let Some(done) = rows_of(inner, &frame, statement, &reading, limit).await? {
                return Ok(done);
            }
            let has_functions = reading.catalog().functions().next().is_some();
            let calls = match has_functions {
                true => Calls::of(&frame.planner(&reading), query, frame.text).await?,
                false => None,
            };
            let place = (&site, &mut requests);
            let (fields, (schema, batches)) = match calls {
                None => {
                    let planner = frame.planner(&reading);
                    let (plan, fields) = analysis::plan(&frame, &planner, query).await?;
                    let _around = called(inner, &site, statement);
                    (fields, collected(&planner, plan, limit, place, self).await?)
                }
                Some(calls) => {
                    let mut values = values.to_vec();
                    for (call, id) in calls.functions().into_iter().enumerate() {
                        let mut planner = frame.planner(&reading);
                        planner.parameters = &values;
                        let plan = calls.arguments(&planner, call, frame.text)?;
                        let arguments = one_row(&planner, plan).await?;
                        let value = deep(self.call(id, arguments).boxed()).await?;
                        values.push(value.scalar);
                    }
                    reading = inner.reading(self.conversation).await?;
                    let mut planner = frame.planner(&reading);
                    planner.parameters = &values;
                    let (plan, fields) = calls.plan(&planner, frame.text)?;
                    let _around = called(inner, &site, statement);
                    (fields, collected(&planner, plan, limit, place, self).await?)
                }
            };
            Ok(Done { fields: Some(fields), schema: Some(schema), batches, count: 0 })
        }
        .boxed()
    }

    /// The value of a function.
    async fn call(&mut self, id: RelationId, arguments: Vec<ScalarValue>) -> Result<Value> {
        if self.depth >= DEPTH_MAX {
            let message = "stack depth limit exceeded";
            return Err(Error::new(SqlState::StatementTooComplex, message));
        }
        let catalog = self.catalog();
        let kept = self.inner.function(&catalog, id)?;
        let statement = self.inner.borrowed.statement();
        let _identity = identity(self.inner, statement, &catalog, &kept.prepared.function)?;
        let inside =
            InSession::new(self.inner, self.conversation, self.control, (self.depth + 1, false));
        value_of(&kept, arguments, inside).await
    }
}

/// The value of a function for arguments.
///
/// # Errors
/// Those of the function.
pub(super) async fn value_of<S: Statements>(
    kept: &KeptFunction,
    arguments: Vec<ScalarValue>,
    inside: S,
) -> Result<Value> {
    let mut host = kept.prepared.resume(inside, kept.memory());
    let value = function_value(&kept.prepared, arguments, &mut host).await;
    kept.keep(host.into_memory());
    value
}

/// The rows of a plan.
pub(super) async fn rows(
    planner: &Planner<'_>,
    plan: LogicalPlan,
    limit: Option<usize>,
) -> Result<Vec<RecordBatch>> {
    if limit != Some(0)
        && let Some(row) = planner.only_row(&plan)?
    {
        return Ok(vec![row]);
    }
    let plan = match limit {
        Some(limit) => LogicalPlanBuilder::from(plan).limit(0, Some(limit))?.build()?,
        None => plan,
    };
    let physical = planner.physical(&plan).await?;
    Ok(collect(physical, planner.engine.task_ctx()).await?)
}

pub(super) fn of_batches(fields: Vec<values::field::Field>, batches: Vec<RecordBatch>) -> Done {
    let schema = batches.first().map(RecordBatch::schema);
    Done { fields: Some(fields), schema, batches, count: 0 }
}

/// Notes that a query calls functions that run statements, if it does.
fn called<'a>(inner: &'a Inner, site: &CallSite, query: &Statement) -> Option<Around<'a>> {
    site.needs_driver().then(|| inner.context.held.calls(&query.text))
}

/// The values of the one row of a plan.
async fn one_row(planner: &Planner<'_>, plan: LogicalPlan) -> Result<Vec<ScalarValue>> {
    if let Some(row) = planner.only_row(&plan)? {
        return values_of(&row);
    }
    let physical = planner.physical(&plan).await?;
    let batches = collect(physical, planner.engine.task_ctx()).await?;
    let row = batches.iter().find(|batch| batch.num_rows() == 1);
    row.map_or_else(|| Ok(Vec::new()), values_of)
}
