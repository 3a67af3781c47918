//! `Broadcast`: rows that every server of a fragment needs for a join, computed once.

use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, PlanProperties,
};
use executor::one_input;
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// The result of gathering, shared by all who wait for it.
type Answer = Result<Arc<Gathered>, Arc<DataFusionError>>;

/// Rows in memory.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) batches: Vec<RecordBatch>,
    pub(crate) bytes: usize,
    _reservation: MemoryReservation,
}

/// The rows of its input, computed once for all readers.
pub(crate) struct Broadcast {
    input: Arc<dyn ExecutionPlan>,
    gathering: Mutex<Option<Shared<BoxFuture<'static, Answer>>>>,
}

impl Broadcast {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        Self { input, gathering: Mutex::new(None) }
    }

    /// All rows. The first call computes them.
    pub(crate) async fn gathered(&self, context: &Arc<TaskContext>) -> Result<Arc<Gathered>> {
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
    one_input!("Broadcast", input, |_broadcast, input| Ok(Arc::new(Self::new(input))));

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition]
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let begin = || gather(Arc::clone(&self.input), Arc::clone(&context)).boxed().shared();
        let gathering = self.gathering.lock().get_or_insert_with(begin).clone();
        let rows = async move {
            let gathered = gathering.await.map_err(DataFusionError::Shared)?;
            // The closure owns `gathered`: the memory stays reserved while the rows are read.
            let batch = move |at: usize| gathered.batches.get(at).cloned().map(|b| (b, at + 1));
            let rows =
                futures::stream::iter(std::iter::successors(batch(0), move |(_, at)| batch(*at)));
            Ok::<_, DataFusionError>(rows.map(|(batch, _)| Ok(batch)))
        };
        let rows = futures::stream::once(rows).try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
