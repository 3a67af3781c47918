//! `Broadcast`: rows that every owner of another table needs, gathered once.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::reader::StreamDecoder;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, PlanProperties,
};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// What a gathering ends with; everybody who waits for it gets the same.
type Answer = Result<Arc<Gathered>, Arc<DataFusionError>>;

/// Rows in memory.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) batches: Vec<RecordBatch>,
    pub(super) bytes: usize,
    _reservation: MemoryReservation,
}

/// The rows of its one input, computed once however often they are asked for.
pub(super) struct Broadcast {
    input: Arc<dyn ExecutionPlan>,
    gathering: Mutex<Option<Shared<BoxFuture<'static, Answer>>>>,
}

impl Broadcast {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        Self { input, gathering: Mutex::new(None) }
    }

    /// All the rows.
    pub(super) async fn gathered(&self, context: &Arc<TaskContext>) -> Result<Arc<Gathered>> {
        let gathering = {
            let mut gathering = self.gathering.lock();
            let begin = || gather(Arc::clone(&self.input), Arc::clone(context)).boxed().shared();
            gathering.get_or_insert_with(begin).clone()
        };
        gathering.await.map_err(DataFusionError::Shared)
    }
}

async fn gather(input: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Answer {
    let reservation = MemoryConsumer::new("Broadcast").register(context.memory_pool());
    let gathered = async {
        let mut rows = input.execute(0, context)?;
        let (mut batches, mut bytes) = (Vec::new(), 0);
        while let Some(batch) = rows.try_next().await? {
            reservation.try_grow(batch.get_array_memory_size())?;
            bytes += batch.get_array_memory_size();
            batches.push(batch);
        }
        Ok((batches, bytes))
    };
    let (batches, bytes) = gathered.await.map_err(Arc::new)?;
    Ok(Arc::new(Gathered { batches, bytes, _reservation: reservation }))
}

/// Rows as they are sent.
pub(crate) fn to_bytes(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?)
}

/// Rows as they were sent, and their columns. Nothing is allocated because a length is said.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let mut decoder = StreamDecoder::new();
    let (mut buffer, mut batches) = (Buffer::from(bytes), Vec::new());
    while !buffer.is_empty() {
        batches.extend(decoder.decode(&mut buffer)?);
    }
    let schema = decoder.schema();
    decoder.finish()?;
    match schema {
        Some(schema) => Ok((schema, batches)),
        None => plan_err!("rows of a fragment have no columns"),
    }
}

impl fmt::Debug for Broadcast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Broadcast({})", self.input.name())
    }
}

impl DisplayAs for Broadcast {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Broadcast")
    }
}

impl ExecutionPlan for Broadcast {
    fn name(&self) -> &'static str {
        "Broadcast"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(children.swap_remove(0))))
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let begin = || gather(Arc::clone(&self.input), Arc::clone(&context)).boxed().shared();
        let gathering = self.gathering.lock().get_or_insert_with(begin).clone();
        let rows = async move {
            let gathered = gathering.await.map_err(DataFusionError::Shared)?;
            // What is accounted for is held as long as somebody reads it.
            let batch = move |at: usize| gathered.batches.get(at).cloned().map(|b| (b, at + 1));
            let rows =
                futures::stream::iter(std::iter::successors(batch(0), move |(_, at)| batch(*at)));
            Ok::<_, DataFusionError>(rows.map(|(batch, _)| Ok(batch)))
        };
        let rows = futures::stream::once(rows).try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
