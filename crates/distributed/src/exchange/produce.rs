//! Hash partitioning of rows: the hash of the keys determines the part of a row.
//!
//! Every server computes the same hash. Its fixed seed differs from those of the engine's hash
//! tables and partitions, so that the rows of one part spread well over them.

use super::queues::Queues;
use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::compute::BatchCoalescer;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::common::runtime::JoinSet;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::TryStreamExt;
use std::sync::Arc;

/// The seed of the hash.
const SEED: u64 = 0x7061_6e64_6f20_6578;

/// Rows of a batch of a part at least, except the last.
const BATCH_ROWS_MIN: usize = 512;

/// Batches of full size whose rows are buffered at most, over all parts.
const BATCHES_GATHERED: usize = 4;

/// Runs plans and partitions all their rows, until the end, an error, or the last reader is gone.
pub(crate) async fn produce(
    plans: Vec<Arc<dyn ExecutionPlan>>,
    by: Vec<Arc<dyn PhysicalExpr>>,
    parts: usize,
    queues: Arc<Queues>,
    context: Arc<TaskContext>,
) {
    // Dropping the set aborts the tasks.
    let mut tasks = JoinSet::new();
    for plan in plans {
        for partition in 0..plan.output_partitioning().partition_count() {
            let producer = Producer::new(plan.schema(), by.clone(), parts, &context);
            let (plan, queues) = (Arc::clone(&plan), Arc::clone(&queues));
            tasks.spawn(producer.run(plan, partition, queues, Arc::clone(&context)));
        }
    }
    while let Some(done) = tasks.join_next().await {
        let done: Result<()> = match done {
            Ok(done) => done,
            Err(_) => Err(internal_datafusion_err!("rows of an exchange cannot be computed")),
        };
        if let Err(error) = done {
            return queues.fail(error);
        }
    }
    queues.complete();
}

/// Partitions the rows of one partition of a plan.
struct Producer {
    by: Vec<Arc<dyn PhysicalExpr>>,
    /// By part, the buffered rows.
    gathered: Vec<BatchCoalescer>,
    /// By part, its rows in the current batch.
    rows: Vec<Vec<u32>>,
    hashes: Vec<u64>,
}

impl Producer {
    fn new(
        schema: SchemaRef,
        by: Vec<Arc<dyn PhysicalExpr>>,
        parts: usize,
        context: &TaskContext,
    ) -> Self {
        let usual = context.session_config().batch_size();
        let rows =
            (usual * BATCHES_GATHERED / parts.max(1)).clamp(BATCH_ROWS_MIN.min(usual), usual);
        let gather = || BatchCoalescer::new(Arc::clone(&schema), rows);
        Self {
            by,
            gathered: std::iter::repeat_with(gather).take(parts).collect(),
            rows: vec![Vec::new(); parts],
            hashes: Vec::new(),
        }
    }

    async fn run(
        mut self,
        plan: Arc<dyn ExecutionPlan>,
        partition: usize,
        queues: Arc<Queues>,
        context: Arc<TaskContext>,
    ) -> Result<()> {
        let mut rows = plan.execute(partition, context)?;
        while let Some(batch) = rows.try_next().await? {
            self.take(&batch)?;
            if !self.send(&queues).await? {
                return Ok(());
            }
        }
        drop(rows);
        for gathered in &mut self.gathered {
            gathered.finish_buffered_batch()?;
        }
        self.send(&queues).await?;
        Ok(())
    }

    /// Adds the rows of a batch to their parts.
    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        let keys = self.by.iter().map(|by| by.evaluate(batch)?.into_array(batch.num_rows()));
        let keys = keys.collect::<Result<Vec<_>, DataFusionError>>()?;
        self.hashes.clear();
        self.hashes.resize(batch.num_rows(), 0);
        create_hashes(&keys, &RandomState::with_seed(SEED), &mut self.hashes)?;
        let parts = self.rows.len() as u64;
        for (row, hash) in self.hashes.iter().enumerate() {
            self.rows[(hash % parts) as usize].push(row as u32);
        }
        for (rows, gathered) in self.rows.iter_mut().zip(&mut self.gathered) {
            if !rows.is_empty() {
                let rows = UInt32Array::from(std::mem::take(rows));
                gathered.push_batch_with_indices(batch.clone(), &rows)?;
            }
        }
        Ok(())
    }

    /// Queues the full batches; whether any reader wants more.
    async fn send(&mut self, queues: &Queues) -> Result<bool> {
        for (part, gathered) in self.gathered.iter_mut().enumerate() {
            while let Some(batch) = gathered.next_completed_batch() {
                if !queues.put(part, batch).await? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
