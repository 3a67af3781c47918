//! Storage of a boundary's rows: in memory, or on disk if memory is short.
//!
//! Each partition keeps its order. A partition without room in memory goes to disk with all its
//! rows, so that its memory is free for the operators of the bundles above.

use super::amounts::Amounts;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::runtime::JoinSet;
use datafusion::common::{Result, internal_datafusion_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, SpillFile, TaskContext};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, SpillManager};
use futures::{StreamExt, TryStreamExt, stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The name of the memory consumer in errors.
const CONSUMER: &str = "Stored";

/// The rows of one partition.
pub(super) enum Kept {
    Memory(Vec<RecordBatch>, MemoryReservation),
    /// A file, which is deleted with this value, and its reader.
    Disk(Option<Arc<dyn SpillFile>>, SpillManager),
}

impl Kept {
    /// The rows. Their memory is released as they are read.
    pub(super) fn rows(self, schema: SchemaRef) -> Result<SendableRecordBatchStream> {
        let (batches, reservation) = match self {
            Self::Memory(batches, reservation) => (batches, Some(reservation)),
            Self::Disk(Some(file), manager) => return manager.read_spill_as_stream(file, None),
            Self::Disk(None, _) => (Vec::new(), None),
        };
        let rows = stream::iter(batches).map(move |batch| {
            if let Some(reservation) = &reservation {
                reservation.shrink(bytes_of(&batch).min(reservation.size()));
            }
            Ok(batch)
        });
        Ok(Box::pin(cooperative(RecordBatchStreamAdapter::new(schema, rows))))
    }
}

/// Runs all partitions of a plan concurrently to the end, and keeps their rows.
///
/// # Errors
/// Those of the plan, and of writing to disk.
pub(super) async fn keep(
    plan: &Arc<dyn ExecutionPlan>,
    bytes_max: usize,
    context: &Arc<TaskContext>,
) -> Result<(Vec<Kept>, Amounts)> {
    let room = Arc::new(Room { bytes_max, bytes: AtomicUsize::new(0) });
    // Dropping the set aborts the tasks.
    let mut tasks = JoinSet::new();
    for partition in 0..plan.output_partitioning().partition_count() {
        let (plan, context, room) = (Arc::clone(plan), Arc::clone(context), Arc::clone(&room));
        tasks.spawn(
            async move { Ok((partition, keep_one(&plan, partition, &room, &context).await?)) },
        );
    }
    let (mut kept, mut all) = (Vec::with_capacity(tasks.len()), Amounts::default());
    while let Some(done) = tasks.join_next().await {
        let done: Result<_> = done.unwrap_or_else(|_| {
            Err(internal_datafusion_err!("the rows of a bundle cannot be computed"))
        });
        let (partition, (rows, amounts)) = done?;
        kept.push((partition, rows));
        all += amounts;
    }
    kept.sort_by_key(|(partition, _)| *partition);
    Ok((kept.into_iter().map(|(_, rows)| rows).collect(), all))
}

async fn keep_one(
    plan: &Arc<dyn ExecutionPlan>,
    partition: usize,
    room: &Room,
    context: &Arc<TaskContext>,
) -> Result<(Kept, Amounts)> {
    let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), partition);
    let manager = SpillManager::new(context.runtime_env(), metrics.clone(), plan.schema());
    let consumer = MemoryConsumer::new(CONSUMER).with_can_spill(true);
    let reservation = consumer.register(context.memory_pool());
    let (mut batches, mut file, mut amounts) = (Vec::new(), None, Amounts::default());
    let mut rows = plan.execute(partition, Arc::clone(context))?;
    while let Some(batch) = rows.try_next().await? {
        if batch.num_rows() == 0 {
            continue;
        }
        let bytes = bytes_of(&batch);
        amounts += Amounts { rows: batch.num_rows(), bytes, spilled: 0 };
        let file = match &mut file {
            None if room.take(bytes, &reservation) => {
                batches.push(batch);
                continue;
            }
            None => {
                let mut opened = manager.create_in_progress_file("rows between two bundles")?;
                for batch in batches.drain(..) {
                    opened.append_batch(&batch)?;
                }
                room.give_back(reservation.free());
                file.insert(opened)
            }
            Some(file) => file,
        };
        file.append_batch(&batch)?;
    }
    let kept = match file {
        Some(mut file) => Kept::Disk(file.finish()?, manager),
        None => Kept::Memory(batches, reservation),
    };
    amounts.spilled = metrics.spilled_bytes.value();
    Ok((kept, amounts))
}

/// The memory that the partitions of a boundary share on a server.
struct Room {
    bytes_max: usize,
    bytes: AtomicUsize,
}

impl Room {
    /// Reserves bytes for a partition; whether they were available.
    fn take(&self, bytes: usize, reservation: &MemoryReservation) -> bool {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let is_free =
            before.saturating_add(bytes) <= self.bytes_max && reservation.try_grow(bytes).is_ok();
        if !is_free {
            self.give_back(bytes);
        }
        is_free
    }

    fn give_back(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The bytes of a batch's own rows, without memory that it shares with other batches.
fn bytes_of(batch: &RecordBatch) -> usize {
    let of = |column: &Arc<dyn Array>| {
        let outside = match column.data_type() {
            DataType::Utf8View => column.as_string_view().total_buffer_bytes_used(),
            DataType::BinaryView => column.as_binary_view().total_buffer_bytes_used(),
            _ => 0,
        };
        let inside = column.to_data().get_slice_memory_size();
        inside.unwrap_or_else(|_| column.get_array_memory_size()) + outside
    };
    batch.columns().iter().map(of).sum()
}
