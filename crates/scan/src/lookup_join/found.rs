//! What happens when a lookup join begins: its left rows are collected, and the right ones looked up.

use super::entries;
use super::right::{Right, single};
use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::TryStreamExt;
use futures::future::try_join_all;
use sdds::KeyRange;
use std::sync::Arc;

/// Rows that are read in the time in which one is looked up by its key.
const ROWS_PER_KEY: usize = 100;

/// A join that is about to run.
pub(super) struct Finding {
    pub(super) join: Arc<dyn ExecutionPlan>,
    pub(super) left: Arc<dyn ExecutionPlan>,
    pub(super) right: Arc<dyn ExecutionPlan>,
    pub(super) rows: Right,
    pub(super) context: Arc<TaskContext>,
    pub(super) metrics: ExecutionPlanMetricsSet,
}

impl Finding {
    /// The join of the left rows with those that they need.
    pub(super) async fn prepared(self) -> Result<Arc<dyn ExecutionPlan>> {
        let pool = self.context.memory_pool();
        let memory = MemoryConsumer::new("left rows of a lookup join").register(pool);
        let partitions = 0..self.left.output_partitioning().partition_count();
        let collected = partitions.map(|partition| self.collected(partition, &memory));
        let collected = try_join_all(collected).await?;
        let left = MemorySourceConfig::try_new_exec(&collected, self.left.schema(), None)?;
        let config = self.context.session_config();
        let right = match self.ranges(&collected.concat()).await? {
            Some(ranges) => self.rows.narrowed(&self.right, &ranges, config).await?,
            None => None,
        };
        let right = match right {
            Some(right) => right,
            None => self.rows.whole(&self.right, config)?,
        };
        let join = replace_children_if_necessary(self.join, vec![left, right])?;
        if self.rows.is_spread() { single(join) } else { Ok(join) }
    }

    async fn collected(
        &self,
        partition: usize,
        memory: &MemoryReservation,
    ) -> Result<Vec<RecordBatch>> {
        let mut rows = self.left.execute(partition, Arc::clone(&self.context))?;
        let mut batches = Vec::new();
        while let Some(batch) = rows.try_next().await? {
            memory.try_grow(batch.get_array_memory_size())?;
            batches.push(batch);
        }
        Ok(batches)
    }

    /// The keys of the rows to read; `None` if all rows are read in less time.
    async fn ranges(&self, left: &[RecordBatch]) -> Result<Option<Vec<KeyRange>>> {
        let most = self.rows.rows() / ROWS_PER_KEY;
        let rows: usize = left.iter().map(RecordBatch::num_rows).sum();
        // As many keys may be of few values.
        if rows > self.rows.rows() {
            return Ok(None);
        }
        let Some(way) = self.rows.way()? else { return Ok(None) };
        let ranges = way.ranges(left)?;
        if ranges.len() > most {
            return Ok(None);
        }
        MetricBuilder::new(&self.metrics).counter("keys", 0).add(ranges.len());
        match way.index {
            None => Ok(Some(ranges)),
            Some((_, file)) => {
                let shipping = self.rows.shipping();
                entries::rows(file, &ranges, most, shipping, &self.context).await
            }
        }
    }
}
