//! Queries that are executed with a plan of before ([`plan_cache::plans`]).

use super::{Begun, begun};
use crate::analysis;
use crate::context::{Frame, Inner};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result as EngineResult;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use datafusion::physical_plan::execute_stream;
use futures::Stream;
use parser::Statement;
use plan_cache::Basis;
use plan_cache::plans::{KeptPlan, KeptPlans, Known, Query};
use planner::large_joins;
use procedural::may_be_plain;
use scan::parameters::Parameters;
use scan::renewal::{emptied, renewed};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use store::Reading;
use values::error::Result;

impl Inner {
    /// Starts a query with a plan of before, or plans it to be executed again. `None` if it has to be planned for this time.
    /// All rows must be on this server.
    pub(crate) async fn begin_kept(
        &self,
        frame: &Frame<'_>,
        statement: &Statement,
        reading: &Reading,
    ) -> Result<Option<Begun>> {
        // Without FROM a plan has no rows to be renewed with.
        if may_be_plain(statement) {
            return Ok(None);
        }
        let basis = Basis::new(reading.catalog(), &frame.settings);
        let given = (frame.parameters, frame.names);
        let Some(query) = Query::of(frame.text, given, frame.parameter_types(), basis) else {
            return Ok(None);
        };
        let plan = match self.plans.take(&query, frame.parameters) {
            Known::Kept(plan) => Some(plan),
            // A query that cannot be planned is planned again, for its error.
            Known::Repeated => {
                self.plan_to_keep(frame, statement, reading).await.unwrap_or_default()
            }
            Known::New => {
                self.plans.keep(query, Known::Repeated);
                return Ok(None);
            }
            Known::Refused | Known::Computed(_) => return Ok(None),
        };
        let Some(plan) = plan else {
            self.plans.keep(query, Known::Refused);
            return Ok(None);
        };
        plan.parameters.set(frame.parameters);
        let Some(physical) = renewed(&plan.emptied, reading, plan.task.session_config())? else {
            return Ok(None);
        };
        let task = Arc::clone(&plan.task);
        let rows = if plan.has_joins {
            match begun(physical, task).await {
                Err(error) if large_joins::have_failed(&error) => return Ok(None),
                begun => begun?,
            }
        } else {
            execute_stream(physical, task)?
        };
        let fields = Arc::clone(&plan.fields);
        let (schema, plans) = (rows.schema(), Arc::clone(&self.plans));
        let rows = Kept { schema, rows: Some(rows), plans, plan: Some((query, plan)) };
        Ok(Some((fields, Box::pin(rows))))
    }

    async fn plan_to_keep(
        &self,
        frame: &Frame<'_>,
        statement: &Statement,
        reading: &Reading,
    ) -> Result<Option<Box<KeptPlan>>> {
        let mut planner = frame.planner(reading);
        planner.parameters = &[];
        let query = analysis::query_of(statement)?;
        let (plan, fields) = analysis::plan_without_values(frame, &planner, query).await?;
        let parameters = Parameters::new(frame.parameters);
        let mut is_for_one = true;
        let (physical, emptied) = loop {
            let physical = planner.reusable(&plan, &parameters, is_for_one).await?;
            let Some(physical) = physical else { return Ok(None) };
            match emptied(&physical)? {
                Some(emptied) if is_for_one && !emptied.is_small() => is_for_one = false,
                Some(emptied) => break (physical, emptied),
                None => return Ok(None),
            }
        };
        let limit = self.shared.store.memory().limit();
        let has_joins = limit.is_some_and(|limit| large_joins::are_possible(&physical, limit));
        let (fields, task) = (fields.into(), frame.engine().task_ctx());
        let change = None;
        Ok(Some(Box::new(KeptPlan { emptied, parameters, fields, task, has_joins, change })))
    }
}

/// The rows of a plan, which is kept when they end.
struct Kept {
    schema: SchemaRef,
    rows: Option<SendableRecordBatchStream>,
    plans: Arc<KeptPlans>,
    plan: Option<(Query, Box<KeptPlan>)>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Nothing may use the parameters any more.
        self.rows = None;
        if let Some((query, plan)) = self.plan.take() {
            self.plans.keep(query, Known::Kept(plan));
        }
    }
}

impl Stream for Kept {
    type Item = EngineResult<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match &mut self.rows {
            Some(rows) => rows.as_mut().poll_next(context),
            None => Poll::Ready(None),
        }
    }
}

impl RecordBatchStream for Kept {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
