//! [`LateSubqueries`], the operator that computes subqueries before its rows.

use super::{comes_late, is_needed_first};
use crate::one_input;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::physical_planning_context::ScalarSubqueryResults;
use datafusion::physical_expr::scalar_subquery::ScalarSubqueryExpr;
use datafusion::physical_plan::scalar_subquery::{ScalarSubqueryExec, ScalarSubqueryLink};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, execute_stream,
};
use futures::future::{BoxFuture, Shared, try_join_all};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use values::error::{Error, SqlState};
use values::translate::external;

/// The message of the engine for a place that is empty.
const EMPTY: &str = "evaluated before the subquery was executed";

/// The error of a subquery, for all who read its value.
type Failure = Arc<DataFusionError>;

/// The result of computing all subqueries: the first error that comes late, if there is one.
type Answer = Result<Option<Failure>, Failure>;

/// Rows, and the subqueries whose values their expressions read.
#[derive(Debug, Clone)]
pub(crate) struct LateSubqueries {
    input: Arc<dyn ExecutionPlan>,
    subqueries: Vec<Subquery>,
    results: ScalarSubqueryResults,
    /// What all partitions wait for.
    computed: Arc<Mutex<Option<Shared<BoxFuture<'static, Answer>>>>>,
}

/// A subquery.
#[derive(Debug, Clone)]
struct Subquery {
    link: ScalarSubqueryLink,
    /// Whether its errors are those of the statement, also without rows.
    is_needed_first: bool,
}

impl LateSubqueries {
    /// What the engine's operator computes.
    pub(crate) fn of(operator: &ScalarSubqueryExec) -> Result<Self> {
        let subquery = |link: &ScalarSubqueryLink| {
            // The engine plans only subqueries with one column.
            let field = link.plan.schema().field(0).clone();
            let results = operator.results().clone();
            let value = ScalarSubqueryExpr::new(
                field.data_type().clone(),
                field.is_nullable(),
                link.index,
                results,
            );
            let is_needed_first = is_needed_first(operator.input(), &value)?;
            Ok(Subquery { link: link.clone(), is_needed_first })
        };
        let subqueries = operator.subqueries().iter().map(subquery);
        Ok(Self {
            input: Arc::clone(operator.input()),
            subqueries: subqueries.collect::<Result<_>>()?,
            results: operator.results().clone(),
            computed: Arc::default(),
        })
    }

    /// The computation of all values, which has begun once.
    fn computed(&self, context: &Arc<TaskContext>) -> Shared<BoxFuture<'static, Answer>> {
        let mut computed = self.computed.lock();
        if let Some(begun) = &*computed {
            return begun.clone();
        }
        let (subqueries, results) = (self.subqueries.clone(), self.results.clone());
        let context = Arc::clone(context);
        let all =
            async move { all_values(&subqueries, &results, &context).await.map_err(Arc::new) };
        let begun = all.boxed().shared();
        *computed = Some(begun.clone());
        begun
    }

    async fn rows(
        self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let failure = self.computed(&context).await.map_err(DataFusionError::Shared)?;
        let rows = self.input.execute(partition, context)?;
        let Some(failure) = failure else { return Ok(rows) };
        let schema = rows.schema();
        let rows = rows.map_err(move |error| match error.to_string().contains(EMPTY) {
            true => DataFusionError::Shared(Arc::clone(&failure)),
            false => error,
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

impl Subquery {
    /// The value, or the error that comes late.
    async fn outcome(&self, context: &Arc<TaskContext>) -> Result<Result<ScalarValue, Failure>> {
        let error = match value(&self.link.plan, context).await {
            Ok(value) => return Ok(Ok(value)),
            Err(error) => Arc::new(error),
        };
        let known = Error::from(DataFusionError::Shared(Arc::clone(&error)));
        match comes_late(&known) && !self.is_needed_first {
            true => Ok(Err(error)),
            false => Err(DataFusionError::Shared(error)),
        }
    }
}

/// Computes all values, and keeps them for the expressions.
async fn all_values(
    subqueries: &[Subquery],
    results: &ScalarSubqueryResults,
    context: &Arc<TaskContext>,
) -> Result<Option<Failure>> {
    let mut outcomes = Vec::with_capacity(subqueries.len());
    for subquery in subqueries {
        outcomes.push(subquery.outcome(context));
    }
    let outcomes = try_join_all(outcomes).await?;
    let mut failure = None;
    for (subquery, outcome) in subqueries.iter().zip(outcomes) {
        match outcome {
            Ok(value) => results.set(subquery.link.index, value)?,
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    Ok(failure)
}

/// The value of the only row of a subquery; NULL without a row.
async fn value(plan: &Arc<dyn ExecutionPlan>, context: &Arc<TaskContext>) -> Result<ScalarValue> {
    let mut rows = execute_stream(Arc::clone(plan), Arc::clone(context))?;
    let mut value = None;
    while let Some(batch) = rows.try_next().await? {
        if batch.num_rows() == 0 {
            continue;
        }
        if value.is_some() || batch.num_rows() > 1 {
            let message = "more than one row returned by a subquery used as an expression";
            return Err(external(Error::new(SqlState::CardinalityViolation, message)));
        }
        value = Some(ScalarValue::try_from_array(batch.column(0), 0)?);
    }
    match value {
        Some(value) => Ok(value),
        None => ScalarValue::try_from(plan.schema().field(0).data_type()),
    }
}

impl DisplayAs for LateSubqueries {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LateSubqueries: {}", self.subqueries.len())
    }
}

impl ExecutionPlan for LateSubqueries {
    one_input!("LateSubqueries", input, |late, input| {
        Ok(Arc::new(Self { input, ..late.clone() }))
    });

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = stream::once(self.clone().rows(partition, context)).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows.boxed())))
    }
}
