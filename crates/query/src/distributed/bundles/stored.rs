//! `Stored`: a boundary between two bundles.
//!
//! It takes all rows of the bundle below before it hands on the first. Where several servers run the bundle, each
//! keeps the rows that it has made; this one waits until all have theirs, and what runs next finds them where they are.
//! It is opened once, by [`super::in_step`] or by the first who reads it, and is over when its readers and the plan are gone.

use super::amounts::{Amounts, Counts};
use super::in_step::open_below;
use super::storage::{Kept, keep};
use crate::distributed::{Begun, Participants, StoreAs, holding};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, EmptyRecordBatchStream, ExecutionPlan, Partitioning,
    PlanProperties,
};
use futures::future::{BoxFuture, Shared, try_join};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// What an opening ends with; everybody who waits for it gets the same.
type Answer = Result<Arc<Opened>, Arc<DataFusionError>>;

/// A boundary that has all its rows. Dropping it ends it, on all servers.
pub(crate) struct Opened {
    /// What the other servers know their rows by.
    pub(crate) rows_elsewhere: Option<StoreAs>,
    /// On this server, by partition, until somebody reads them.
    here: Mutex<Vec<Option<Kept>>>,
    _elsewhere: Mutex<Begun>,
}

/// Stores the rows of a bundle.
pub(crate) struct Stored {
    /// The bundle's, from 1 on in the order in which they run.
    number: usize,
    bytes_max: usize,
    /// The bundle on this server, and what others run of it.
    parts: Vec<Arc<dyn ExecutionPlan>>,
    /// The servers that run it; `None` where that is this one alone.
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
    /// Whether rows that are dealt out by a key are so over all of them.
    by_key: bool,
}

impl Stored {
    /// The rows of a bundle that this server runs.
    pub(crate) fn here(bundle: Arc<dyn ExecutionPlan>, number: usize, bytes_max: usize) -> Self {
        Self::new(vec![bundle], number, bytes_max, None)
    }

    /// The same of a bundle that several servers run: this one, and those that are asked. `by_key` says whether rows that are
    /// dealt out by a key are so over all of them.
    pub(crate) fn everywhere(
        &self,
        parts: Vec<Arc<dyn ExecutionPlan>>,
        participants: Arc<Participants>,
        by_key: bool,
    ) -> Self {
        Self::new(parts, self.number, self.bytes_max, Some(Spread { participants, by_key }))
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

    /// The number of the bundle whose rows it stores.
    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// That bundle, as this server runs it.
    pub(crate) fn bundle(&self) -> &Arc<dyn ExecutionPlan> {
        &self.parts[0]
    }

    /// How much is stored, on all servers.
    pub(crate) fn amounts(&self) -> Amounts {
        self.counts.amounts()
    }

    /// The boundary with all its rows, on all servers.
    ///
    /// # Errors
    /// Those of the bundles below.
    pub(crate) async fn opened(&self, context: &Arc<TaskContext>) -> Result<Arc<Opened>> {
        self.opening(context).await.map_err(DataFusionError::Shared)
    }

    fn opening(&self, context: &Arc<TaskContext>) -> Shared<BoxFuture<'static, Answer>> {
        let begin = || {
            let store = self.spread.as_ref().map(|spread| StoreAs {
                id: spread.participants.exchange_id(),
                bytes_max: self.bytes_max,
            });
            let (parts, counts) = (self.parts.clone(), self.counts.clone());
            let (bytes_max, context) = (self.bytes_max, Arc::clone(context));
            async move {
                let opened = open(&parts, bytes_max, store, &counts, &context).await;
                opened.map(Arc::new).map_err(Arc::new)
            }
            .boxed()
            .shared()
        };
        self.opening.lock().get_or_insert_with(begin).clone()
    }
}

/// Lets all servers store their rows.
async fn open(
    parts: &[Arc<dyn ExecutionPlan>],
    bytes_max: usize,
    store: Option<StoreAs>,
    counts: &Counts,
    context: &Arc<TaskContext>,
) -> Result<Opened> {
    open_below(&parts[0], context).await?;
    let mut begun = Begun::of(parts, store, context).await?;
    let bundle = Arc::clone(&begun.here);
    let ((here, amounts), elsewhere) =
        try_join(keep(&bundle, bytes_max, context), begun.stored()).await?;
    counts.add(amounts);
    elsewhere.into_iter().for_each(|amounts| counts.add(amounts));
    let here = Mutex::new(here.into_iter().map(Some).collect());
    Ok(Opened { rows_elsewhere: store, here, _elsewhere: Mutex::new(begun) })
}

impl Opened {
    /// The rows of a partition on this server, for the first who asks.
    fn rows(&self, partition: usize, schema: SchemaRef) -> Result<SendableRecordBatchStream> {
        match self.here.lock().get_mut(partition).map(Option::take) {
            Some(Some(kept)) => kept.rows(schema),
            Some(None) => internal_err!("the rows of a bundle are read twice"),
            // Rows that others could not store are all in the first partition.
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
