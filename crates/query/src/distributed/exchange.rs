//! `Exchange`: rows that lie anywhere, dealt out to the servers that run the next fragment.
//!
//! Its children deal: what is computed on this server, and the fragments that others run. Each server keeps its rows by
//! part, until they are taken ([`super::queues`]). A participant has a part for each partition of its fragment, and
//! takes them from every producer ([`super::reader`]); this server's own are the partitions of this operator.
//!
//! The exchange is opened when the first of its readers is started: then each producer begins, and says so. It is over
//! when its readers and the plan are gone: dropping what the producers were asked with ends everything there.

use super::exchanges::{Exchanges, Open};
use super::metrics::Measuring;
use super::produce::produce;
use super::reader::{ExchangeReader, Parts};
use super::received::holding;
use super::remote::{RemoteFragment, Sent};
use super::sites::Participants;
use super::wire::{HashPartitioning, Output};
use crate::values::error::{Error, SqlState};
use crate::values::translate::external;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::future::{BoxFuture, Shared, join_all, try_join_all};
use futures::{FutureExt, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use sdds::GroupId;
use std::fmt;
use std::sync::Arc;
use store::ExchangeId;
use tokio::task::JoinSet;

/// What an opening ends with; everybody who waits for it gets the same.
type Answer = Result<Arc<Opened>, Arc<DataFusionError>>;

/// An exchange that runs. Dropping it ends it, on all servers.
pub(super) struct Opened {
    id: ExchangeId,
    producers: Vec<GroupId>,
    _here: Option<(JoinSet<()>, Open)>,
    elsewhere: tokio::sync::Mutex<Vec<Sent>>,
}

/// Deals out the rows of its children.
pub(super) struct Exchange {
    producers: Vec<Arc<dyn ExecutionPlan>>,
    by: Vec<Arc<dyn PhysicalExpr>>,
    participants: Arc<Participants>,
    /// Of each participant.
    partitions: usize,
    opening: Mutex<Option<Shared<BoxFuture<'static, Answer>>>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl Exchange {
    /// Of at least one child, all with the same columns.
    pub(super) fn new(
        producers: Vec<Arc<dyn ExecutionPlan>>,
        by: Vec<Arc<dyn PhysicalExpr>>,
        participants: Arc<Participants>,
        partitions: usize,
    ) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(producers[0].schema()),
            Partitioning::Hash(by.clone(), partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Self {
            producers,
            by,
            participants,
            partitions,
            opening: Mutex::new(None),
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The exchange, running.
    pub(super) async fn opened(&self, context: &Arc<TaskContext>) -> Result<Arc<Opened>> {
        self.opening(context).await.map_err(DataFusionError::Shared)
    }

    fn opening(&self, context: &Arc<TaskContext>) -> Shared<BoxFuture<'static, Answer>> {
        let begin = || {
            let partitioning = HashPartitioning {
                exchange: self.participants.exchange_id(),
                by: self.by.clone(),
                parts: self.participants.groups.len() * self.partitions,
            };
            let opened =
                open(self.producers.clone(), partitioning, self.here(), Arc::clone(context));
            opened.map(|opened| opened.map(Arc::new).map_err(Arc::new)).boxed().shared()
        };
        self.opening.lock().get_or_insert_with(begin).clone()
    }

    fn here(&self) -> GroupId {
        self.participants.peers.here()
    }

    /// A participant's reader, as the one of this place in its fragment.
    pub(super) fn reader(&self, opened: &Opened, participant: usize, place: u32) -> ExchangeReader {
        let parts = opened.parts(participant, self.partitions);
        let (peers, metrics) = (Arc::clone(&self.participants.peers), self.metrics.clone());
        ExchangeReader::new(place, parts, self.schema(), peers, metrics)
    }
}

impl Opened {
    /// Waits until the others have said what they have spent, when all rows were taken.
    async fn metrics(&self) {
        let mut elsewhere = self.elsewhere.lock().await;
        join_all(elsewhere.iter_mut().map(Sent::metrics)).await;
    }

    /// What one of the participants reads.
    fn parts(&self, participant: usize, partitions: usize) -> Parts {
        Parts {
            exchange: self.id,
            producers: self.producers.clone(),
            first: (participant * partitions) as u32,
            partitions: partitions as u32,
        }
    }
}

/// Lets all producers begin.
async fn open(
    producers: Vec<Arc<dyn ExecutionPlan>>,
    partitioning: HashPartitioning,
    here: GroupId,
    context: Arc<TaskContext>,
) -> Result<Opened> {
    let begun = producers.into_iter().map(|producer| begin(producer, &partitioning, &context));
    let (mut plans, mut groups, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for producer in try_join_all(begun).await? {
        match producer {
            Producer::Here(plan) => plans.push(plan),
            Producer::There(group, rows) => {
                groups.push(group);
                sent.push(rows);
            }
        }
    }
    let mut local = None;
    if !plans.is_empty() {
        groups.push(here);
        let (exchanges, pool) = (Exchanges::of(&context)?, context.memory_pool());
        let open = exchanges.open(partitioning.exchange, partitioning.parts, pool)?;
        let queues = Arc::clone(&open.queues);
        let mut tasks = JoinSet::new();
        tasks.spawn(produce(plans, partitioning.by, partitioning.parts, queues, context));
        local = Some((tasks, open));
    }
    let elsewhere = tokio::sync::Mutex::new(sent);
    Ok(Opened { id: partitioning.exchange, producers: groups, _here: local, elsewhere })
}

/// Who deals out the rows of a child.
enum Producer {
    Here(Arc<dyn ExecutionPlan>),
    There(GroupId, Sent),
}

/// Lets another server begin, if it is one that computes a child's rows.
async fn begin(
    producer: Arc<dyn ExecutionPlan>,
    partitioning: &HashPartitioning,
    context: &Arc<TaskContext>,
) -> Result<Producer> {
    let Some(fragment) = producer.downcast_ref::<RemoteFragment>() else {
        return Ok(Producer::Here(producer));
    };
    let Some(mut sent) = fragment.send(context, Output::HashPartitioned(partitioning)).await?
    else {
        return Ok(Producer::Here(fragment.over_sent_rows()?));
    };
    // An empty batch says that the exchange is there, and parts of it may be taken.
    match sent.next().await {
        Some(Ok(_)) => Ok(Producer::There(fragment.group(), sent)),
        Some(Err(error)) => Err(external(error.into())),
        None => {
            let message = "a server does not deal out an exchange";
            Err(external(Error::new(SqlState::ProtocolViolation, message)))
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange({})", self.producers[0].name())
    }
}

impl DisplayAs for Exchange {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by: Vec<String> = self.by.iter().map(ToString::to_string).collect();
        let servers = self.participants.names();
        let partitions = self.partitions;
        write!(
            f,
            "Exchange: by=[{}], servers=[{}], parts={}",
            by.join(", "),
            servers.join(", "),
            servers.len() * partitions
        )
    }
}

impl ExecutionPlan for Exchange {
    fn name(&self) -> &'static str {
        "Exchange"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.producers.iter().collect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false; self.producers.len()]
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let participants = Arc::clone(&self.participants);
        Ok(Arc::new(Self::new(children, self.by.clone(), participants, self.partitions)))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for by in &self.by {
            f(by)?;
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let opening = self.opening(&context);
        let (partitions, schema) = (self.partitions, self.schema());
        let (peers, metrics) = (Arc::clone(&self.participants.peers), self.metrics.clone());
        let rows = async move {
            let opened = opening.await.map_err(DataFusionError::Shared)?;
            let reader =
                ExchangeReader::new(0, opened.parts(0, partitions), schema, peers, metrics);
            let is_last = Measuring::is_on(&context) && partition == 0;
            let rows = reader.execute(partition, context)?;
            let (all, held) = (Arc::clone(&opened), opened);
            let metrics = futures::stream::once(async move {
                if is_last {
                    all.metrics().await;
                }
                None
            });
            let rows = rows.map(Some).chain(metrics).filter_map(std::future::ready);
            Ok::<_, DataFusionError>(holding(rows, held))
        };
        let rows = futures::stream::once(rows).try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
