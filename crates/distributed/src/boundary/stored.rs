//! `Stored`: the operator at a boundary.
//!
//! It stores all rows of the bundle below before it returns the first. If several servers run the
//! bundle, each stores its own rows, and this server waits for all of them. The fragment that runs
//! next reads the rows where they are. A boundary is opened once, by [`open_below`] or by its first
//! reader, and ends when its readers and the plan are gone.

use super::amounts::{Amounts, Counts};
use super::begun::Begun;
use super::storage::{Kept, keep};
use crate::exchange::carries_rows;
use crate::kinds::{Role, role_of};
use crate::received::holding;
use crate::shipped::AsShipped;
use crate::sites::Participants;
use crate::wire::fragment::StoreAs;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, EmptyRecordBatchStream, ExecutionPlan, Partitioning,
    PlanProperties,
};
use futures::future::{BoxFuture, Shared, try_join};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// The result of opening, shared by all who wait for it.
type Answer = Result<Arc<Opened>, Arc<DataFusionError>>;

/// A boundary with all its rows. Dropping it releases the rows on all servers.
pub(crate) struct Opened {
    /// How the other servers store their rows.
    pub(crate) rows_elsewhere: Option<StoreAs>,
    /// The rows on this server, by partition, until they are read.
    here: Mutex<Vec<Option<Kept>>>,
    _elsewhere: Mutex<Begun>,
}

/// Stores the rows of a bundle.
pub(crate) struct Stored {
    /// The number of the bundle, from 1 in the order of execution.
    number: usize,
    /// Bytes that a server keeps in memory at most.
    bytes_max: usize,
    /// The bundle on this server, and those on the others.
    parts: Vec<Arc<dyn ExecutionPlan>>,
    /// The servers that run it; `None` if only this one does.
    spread: Option<Spread>,
    opening: Mutex<Option<Shared<BoxFuture<'static, Answer>>>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
    counts: Counts,
}

/// The servers that run a bundle.
#[derive(Clone)]
struct Spread {
    participants: Arc<Participants>,
    /// Finds the parts that run elsewhere.
    as_shipped: AsShipped,
    /// Whether a hash partitioning of the rows holds for all servers together.
    by_key: bool,
}

impl Stored {
    /// The rows of a bundle that this server runs.
    pub(crate) fn here(bundle: Arc<dyn ExecutionPlan>, number: usize, bytes_max: usize) -> Self {
        Self::new(vec![bundle], number, bytes_max, None)
    }

    /// The boundary for a bundle that several servers run; the first of `parts` runs here. `by_key`
    /// says whether a hash partitioning of the rows holds for all servers together.
    pub(crate) fn everywhere(
        &self,
        parts: Vec<Arc<dyn ExecutionPlan>>,
        as_shipped: AsShipped,
        participants: Arc<Participants>,
        by_key: bool,
    ) -> Self {
        let spread = Spread { participants, as_shipped, by_key };
        Self::new(parts, self.number, self.bytes_max, Some(spread))
    }

    fn new(
        parts: Vec<Arc<dyn ExecutionPlan>>,
        number: usize,
        bytes_max: usize,
        spread: Option<Spread>,
    ) -> Self {
        let mut properties = Arc::clone(parts[0].properties());
        if spread.as_ref().is_some_and(|spread| !spread.by_key) {
            let partitions = properties.output_partitioning().partition_count();
            let plain = Partitioning::UnknownPartitioning(partitions);
            properties = Arc::new(PlanProperties::clone(&properties).with_partitioning(plain));
        }
        let metrics = ExecutionPlanMetricsSet::new();
        let (opening, counts) = (Mutex::new(None), Counts::new(&metrics));
        Self { number, bytes_max, parts, spread, opening, properties, metrics, counts }
    }

    /// The number of the bundle.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The bundle, as this server runs it.
    pub(crate) fn bundle(&self) -> &Arc<dyn ExecutionPlan> {
        &self.parts[0]
    }

    /// The amount that is stored on all servers.
    pub(crate) fn amounts(&self) -> Amounts {
        self.counts.amounts()
    }

    /// Runs the bundles below, once, until all rows are stored.
    ///
    /// # Errors
    /// Those of the bundles below.
    pub(crate) async fn opened(&self, context: &Arc<TaskContext>) -> Result<Arc<Opened>> {
        self.opening(context).await.map_err(DataFusionError::Shared)
    }

    fn opening(&self, context: &Arc<TaskContext>) -> Shared<BoxFuture<'static, Answer>> {
        let begin = || {
            let bytes_max = self.bytes_max;
            let elsewhere = self.spread.as_ref().map(|spread| {
                let id = spread.participants.exchange_id();
                (StoreAs { id, bytes_max }, spread.as_shipped)
            });
            let (parts, counts) = (self.parts.clone(), self.counts.clone());
            let context = Arc::clone(context);
            async move {
                let opened = open(&parts, bytes_max, elsewhere, &counts, &context).await;
                opened.map(Arc::new).map_err(Arc::new)
            }
            .boxed()
            .shared()
        };
        self.opening.lock().get_or_insert_with(begin).clone()
    }
}

/// Runs the bundle on all servers until they have stored their rows.
async fn open(
    parts: &[Arc<dyn ExecutionPlan>],
    bytes_max: usize,
    elsewhere: Option<(StoreAs, AsShipped)>,
    counts: &Counts,
    context: &Arc<TaskContext>,
) -> Result<Opened> {
    open_below(&parts[0], context).await?;
    let mut begun = match elsewhere {
        Some((store, as_shipped)) => Begun::everywhere(parts, as_shipped, store, context).await?,
        None => Begun::here(Arc::clone(&parts[0])),
    };
    let bundle = Arc::clone(&begun.here);
    let ((here, amounts), others) =
        try_join(keep(&bundle, bytes_max, context), begun.stored()).await?;
    counts.add(amounts);
    others.into_iter().for_each(|amounts| counts.add(amounts));
    let here = Mutex::new(here.into_iter().map(Some).collect());
    let rows_elsewhere = elsewhere.map(|(store, _)| store);
    Ok(Opened { rows_elsewhere, here, _elsewhere: Mutex::new(begun) })
}

impl Opened {
    /// The rows of a partition on this server, once.
    fn rows(&self, partition: usize, schema: SchemaRef) -> Result<SendableRecordBatchStream> {
        match self.here.lock().get_mut(partition).map(Option::take) {
            Some(Some(kept)) => kept.rows(schema),
            Some(None) => internal_err!("the rows of a bundle are read twice"),
            // Rows that this server stores for others are all in the first partition.
            None => Ok(Box::pin(EmptyRecordBatchStream::new(schema))),
        }
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stored({})", self.number)
    }
}

impl DisplayAs for Stored {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stored: bundle={}", self.number)?;
        match &self.spread {
            Some(spread) => write!(f, ", servers=[{}]", spread.participants.names().join(", ")),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for Stored {
    fn name(&self) -> &'static str {
        "Stored"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true; self.parts.len()]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.parts.iter().collect()
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(children, self.number, self.bytes_max, self.spread.clone())))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (opening, schema) = (self.opening(&context), self.schema());
        let rows = async move {
            let opened = opening.await.map_err(DataFusionError::Shared)?;
            Ok::<_, DataFusionError>(holding(opened.rows(partition, schema)?, opened))
        };
        let rows = stream::once(rows).try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(match inputs {
            [bundle] => Arc::clone(bundle),
            _ => Arc::new(Statistics::new_unknown(&self.schema())),
        })
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// Opens the nearest boundaries below a bundle, one after another.
pub(crate) async fn open_below(
    bundle: &Arc<dyn ExecutionPlan>,
    context: &Arc<TaskContext>,
) -> Result<()> {
    let mut found = Vec::new();
    find(bundle, &mut found);
    for boundary in found {
        if let Some(stored) = boundary.downcast_ref::<Stored>() {
            stored.opened(context).await?;
        }
    }
    Ok(())
}

/// The nearest boundaries from an operator down. An unknown operator may have to act before its
/// inputs run: it opens boundaries itself, by reading them. So does the main input of an operator
/// that evaluates subqueries.
fn find(plan: &Arc<dyn ExecutionPlan>, found: &mut Vec<Arc<dyn ExecutionPlan>>) {
    if plan.downcast_ref::<Stored>().is_some() {
        return found.push(Arc::clone(plan));
    }
    let inputs = plan.children();
    if plan.downcast_ref::<ScalarSubqueryExec>().is_some() {
        return inputs.into_iter().skip(1).for_each(|subquery| find(subquery, found));
    }
    let is_unknown = role_of(plan) == Role::Operator(Vec::new());
    if !is_unknown || carries_rows(plan) || plan.downcast_ref::<UnionExec>().is_some() {
        inputs.into_iter().for_each(|input| find(input, found));
    }
}
