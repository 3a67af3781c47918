//! `Exchange`: hash-partitions rows among the servers that run the next fragment.
//!
//! Its children are the producers: a plan on this server, and fragments on others. Each producer
//! keeps its rows by part until they are taken ([`super::queues`]). A participant has a part for
//! each partition of its fragment, and takes it from every producer ([`super::reader`]). The parts
//! of this server are the partitions of this operator.
//!
//! The exchange is opened when its first reader starts: then each producer begins and confirms it.
//! It ends when its readers and the plan are gone: dropping the requests to the producers ends it
//! there.

use super::exchanges::{Exchanges, Open};
use super::produce::produce;
use super::reader::ExchangeReader;
use crate::metrics::Measuring;
use crate::received::holding;
use crate::shipped::{AsShipped, Sent};
use crate::sites::Participants;
use crate::wire::fragment::Parts;
use crate::wire::output::{HashPartitioning, Output};
use datafusion::common::runtime::JoinSet;
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
use sdds::ServerId;
use std::fmt;
use std::sync::Arc;
use store::ExchangeId;
use values::translate::external;
use values::{Error, SqlState};

/// The result of opening, shared by all who wait for it.
type Answer = Result<Arc<Opened>, Arc<DataFusionError>>;

/// An open exchange. Dropping it ends it on all servers.
pub(crate) struct Opened {
    id: ExchangeId,
    producers: Vec<ServerId>,
    _here: Option<(JoinSet<()>, Open)>,
    elsewhere: tokio::sync::Mutex<Vec<Sent>>,
}

/// Hash-partitions the rows of its children.
pub(crate) struct Exchange {
    producers: Vec<Arc<dyn ExecutionPlan>>,
    /// Finds the producers that run elsewhere.
    as_shipped: AsShipped,
    by: Vec<Arc<dyn PhysicalExpr>>,
    participants: Arc<Participants>,
    /// Partitions of each participant.
    partitions: usize,
    opening: Mutex<Option<Shared<BoxFuture<'static, Answer>>>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl Exchange {
    /// An exchange of the rows of `producers`, at least one, all with the same columns.
    pub(crate) fn new(
        producers: Vec<Arc<dyn ExecutionPlan>>,
        as_shipped: AsShipped,
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
            as_shipped,
            by,
            participants,
            partitions,
            opening: Mutex::new(None),
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The open exchange. The first call opens it.
    pub(crate) async fn opened(&self, context: &Arc<TaskContext>) -> Result<Arc<Opened>> {
        self.opening(context).await.map_err(DataFusionError::Shared)
    }

    fn opening(&self, context: &Arc<TaskContext>) -> Shared<BoxFuture<'static, Answer>> {
        let begin = || {
            let partitioning = HashPartitioning {
                exchange: self.participants.exchange_id(),
                by: self.by.clone(),
                parts: self.participants.servers.len() * self.partitions,
            };
            let (producers, context) = (self.producers.clone(), Arc::clone(context));
            let opened = open(producers, self.as_shipped, partitioning, self.here(), context);
            opened.map(|opened| opened.map(Arc::new).map_err(Arc::new)).boxed().shared()
        };
        self.opening.lock().get_or_insert_with(begin).clone()
    }

    fn here(&self) -> ServerId {
        self.participants.peers.here()
    }

    /// The reader of a participant, with its place among the readers of its fragment.
    pub(crate) fn reader(&self, opened: &Opened, participant: usize, place: u32) -> ExchangeReader {
        let parts = opened.parts(participant, self.partitions);
        let (peers, metrics) = (Arc::clone(&self.participants.peers), self.metrics.clone());
        ExchangeReader::new(place, parts, self.schema(), peers, metrics)
    }
}

impl Opened {
    /// Waits for the metrics of the other servers, after all rows have been taken.
    async fn metrics(&self) {
        let mut elsewhere = self.elsewhere.lock().await;
        join_all(elsewhere.iter_mut().map(Sent::metrics)).await;
    }

    /// The parts of one participant.
    fn parts(&self, participant: usize, partitions: usize) -> Parts {
        Parts {
            exchange: self.id,
            producers: self.producers.clone(),
            first: (participant * partitions) as u32,
            partitions: partitions as u32,
        }
    }
}

/// Starts all producers.
async fn open(
    producers: Vec<Arc<dyn ExecutionPlan>>,
    as_shipped: AsShipped,
    partitioning: HashPartitioning,
    here: ServerId,
    context: Arc<TaskContext>,
) -> Result<Opened> {
    let begin = |producer| begin(producer, as_shipped, &partitioning, &context);
    let begun = producers.into_iter().map(begin);
    let (mut plans, mut servers, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for producer in try_join_all(begun).await? {
        match producer {
            Producer::Here(plan) => plans.push(plan),
            Producer::There(server, rows) => {
                servers.push(server);
                sent.push(rows);
            }
        }
    }
    let mut local = None;
    if !plans.is_empty() {
        servers.push(here);
        let (exchanges, pool) = (Exchanges::of(&context)?, context.memory_pool());
        let open = exchanges.open(partitioning.exchange, partitioning.parts, pool)?;
        let queues = Arc::clone(&open.queues);
        let mut tasks = JoinSet::new();
        tasks.spawn(produce(plans, partitioning.by, partitioning.parts, queues, context));
        local = Some((tasks, open));
    }
    let elsewhere = tokio::sync::Mutex::new(sent);
    Ok(Opened { id: partitioning.exchange, producers: servers, _here: local, elsewhere })
}

/// Where the rows of a child are produced.
enum Producer {
    Here(Arc<dyn ExecutionPlan>),
    There(ServerId, Sent),
}

/// Starts the producer of a child's rows if it is another server.
async fn begin(
    producer: Arc<dyn ExecutionPlan>,
    as_shipped: AsShipped,
    partitioning: &HashPartitioning,
    context: &Arc<TaskContext>,
) -> Result<Producer> {
    let Some(fragment) = as_shipped(&producer) else {
        return Ok(Producer::Here(producer));
    };
    let Some(mut sent) = fragment.send(context, Output::HashPartitioned(partitioning)).await?
    else {
        return Ok(Producer::Here(fragment.over_sent_rows()?));
    };
    // An empty batch says that the exchange is open, and its parts may be taken.
    match sent.next().await {
        Some(Ok(_)) => Ok(Producer::There(fragment.server(), sent)),
        Some(Err(error)) => Err(external(error.into())),
        None => {
            let message = "a server does not open an exchange";
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
        let (by, partitions) = (self.by.clone(), self.partitions);
        Ok(Arc::new(Self::new(children, self.as_shipped, by, participants, partitions)))
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
