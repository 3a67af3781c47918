//! Rows that a statement computes once, and reads several times.
//!
//! A query that calls volatile functions has other rows when it is computed again. [`KeptRows`] is the node of a logical plan
//! that stands for its rows. Each node is planned with a copy of the query below. All nodes with the same [`Kept`] have the
//! same rows: the first that is read runs its copy to the end, and the rows stay in memory until the plans are gone.
//!
//! Not here: which queries are kept (`lowering`), and how the node is planned (`planner`).

mod node;
mod operator;

pub use node::{KeptRows, is_volatile, reads, renewed};
pub use operator::KeptRowsExec;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, TryStreamExt};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The name of the memory consumer in errors.
const CONSUMER: &str = "KeptRows";

/// Rows up to which small batches are put together.
const BATCH_ROWS: usize = 8192;

/// The result of computing rows, for all who wait for it.
type Answer = Result<Arc<Rows>, Arc<DataFusionError>>;

/// The kept rows of the queries of a statement, by the numbers of the queries.
#[derive(Debug, Default)]
pub struct KeptQueries(Mutex<HashMap<u32, Arc<Kept>>>);

impl KeptQueries {
    /// The rows of a query.
    pub fn of(&self, query: u32) -> Arc<Kept> {
        Arc::clone(self.0.lock().entry(query).or_default())
    }
}

/// The rows of one query, which are computed when they are read for the first time.
#[derive(Default)]
pub struct Kept(Mutex<Option<Shared<BoxFuture<'static, Answer>>>>);

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("is_begun", &self.0.lock().is_some()).finish()
    }
}

impl Kept {
    /// The rows, which `input` computes if nobody has begun to. After an error they are computed again: a join that needs
    /// too much memory is planned a second time.
    fn rows(
        &self,
        input: &Arc<dyn ExecutionPlan>,
        context: &Arc<TaskContext>,
    ) -> Shared<BoxFuture<'static, Answer>> {
        let mut known = self.0.lock();
        if let Some(begun) = &*known
            && !matches!(begun.peek(), Some(Err(_)))
        {
            return begun.clone();
        }
        let (input, context) = (Arc::clone(input), Arc::clone(context));
        let rows = async move { computed(input, context).await.map(Arc::new).map_err(Arc::new) };
        let begun = rows.boxed().shared();
        *known = Some(begun.clone());
        begun
    }
}

/// All rows of a query.
struct Rows {
    batches: Vec<RecordBatch>,
    memory: MemoryReservation,
}

impl Rows {
    /// Adds batches as one.
    fn add(&mut self, schema: &SchemaRef, batches: &mut Vec<RecordBatch>) -> Result<()> {
        if batches.is_empty() {
            return Ok(());
        }
        let whole = concat_batches(schema, batches.iter())?;
        batches.clear();
        self.memory.try_grow(whole.get_array_memory_size())?;
        self.batches.push(whole);
        Ok(())
    }
}

/// Runs a plan to the end.
async fn computed(input: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<Rows> {
    let memory = MemoryConsumer::new(CONSUMER).register(context.memory_pool());
    let mut all = Rows { batches: Vec::new(), memory };
    let schema = input.schema();
    let mut stream = execute_stream(input, context)?;
    let (mut small, mut count) = (Vec::new(), 0);
    while let Some(batch) = stream.try_next().await? {
        count += batch.num_rows();
        small.push(batch);
        if count >= BATCH_ROWS {
            all.add(&schema, &mut small)?;
            count = 0;
        }
    }
    all.add(&schema, &mut small)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ArrayRef, Int32Array};
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::{DFSchema, internal_err};
    use datafusion::execution::SendableRecordBatchStream;
    use datafusion::logical_expr::{EmptyRelation, LogicalPlan};
    use datafusion::physical_plan::collect;
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
    use futures::stream;
    use std::sync::atomic::{AtomicI32, Ordering};

    /// A source of three rows with the number of earlier reads. The first read may fail.
    #[derive(Debug)]
    struct Counted {
        schema: SchemaRef,
        reads: AtomicI32,
        fails_first: bool,
    }

    impl Counted {
        fn read(&self) -> Result<RecordBatch> {
            let read = self.reads.fetch_add(1, Ordering::SeqCst);
            if self.fails_first && read == 0 {
                return internal_err!("the first read fails");
            }
            let column: ArrayRef = Arc::new(Int32Array::from(vec![read; 3]));
            Ok(RecordBatch::try_new(Arc::clone(&self.schema), vec![column])?)
        }
    }

    impl PartitionStream for Counted {
        fn schema(&self) -> &SchemaRef {
            &self.schema
        }

        fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
            let rows = stream::iter([self.read()]);
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows))
        }
    }

    fn source(fails_first: bool) -> (Arc<Counted>, Arc<dyn ExecutionPlan>) {
        let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int32, false)]));
        let reads = AtomicI32::new(0);
        let counted = Arc::new(Counted { schema: Arc::clone(&schema), reads, fails_first });
        let partition = Arc::clone(&counted) as Arc<dyn PartitionStream>;
        let plan = StreamingTableExec::try_new(schema, vec![partition], None, [], false, None);
        (counted, Arc::new(plan.expect("a plan")))
    }

    #[tokio::test]
    async fn all_readers_have_the_rows_of_the_first() {
        let (counted, input) = source(false);
        let kept = Arc::new(Kept::default());
        for _ in 0..3 {
            let reader = KeptRowsExec::new(Arc::clone(&input), "q".into(), Arc::clone(&kept));
            let batches = collect(Arc::new(reader), Arc::default()).await.expect("rows");
            assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 3);
        }
        assert_eq!(counted.reads.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn rows_are_computed_again_after_an_error() {
        let (counted, input) = source(true);
        let kept = Arc::new(Kept::default());
        let reader: Arc<dyn ExecutionPlan> = Arc::new(KeptRowsExec::new(input, "q".into(), kept));
        collect(Arc::clone(&reader), Arc::default()).await.expect_err("the first read fails");
        collect(reader, Arc::default()).await.expect("rows");
        assert_eq!(counted.reads.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn nodes_are_equal_if_they_share_their_rows() {
        let queries = KeptQueries::default();
        let node = |query| {
            let schema = Arc::new(DFSchema::empty());
            let empty = EmptyRelation { produce_one_row: true, schema };
            KeptRows::over(LogicalPlan::EmptyRelation(empty), "q", queries.of(query))
        };
        assert_eq!(node(1), node(1));
        assert_ne!(node(1), node(2));
        assert_ne!(renewed(node(1)).expect("a plan"), node(1));
    }
}
