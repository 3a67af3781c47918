//! The values of a subquery without outer columns, among which IN looks for others.
//!
//! The subquery runs once for a statement. The bytes of its values count against the memory of queries.
//!
//! Not here: IN as a condition of WHERE, which is a join; values whose bytes do not tell whether they are equal, which are
//! compared one by one ([`function`](super::function)).

use super::index::same;
use super::keyed::is_equal_if_same;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;
use std::collections::HashSet;
use std::sync::Arc;

/// Bytes that the entry of a value takes in addition to the value.
const ENTRY_BYTES: usize = 32;

/// The distinct values of a subquery.
#[derive(Debug)]
pub(super) struct Members {
    data_type: DataType,
    converter: RowConverter,
    values: HashSet<Box<[u8]>>,
    has_null: bool,
    memory: MemoryReservation,
}

impl Members {
    /// Whether values of a type can be found by their bytes.
    pub(super) fn hold(data_type: &DataType) -> bool {
        data_type.is_signed_integer() || is_equal_if_same(data_type)
    }

    /// Runs the plan of a subquery. Its first column holds the values, which are compared in `data_type`.
    ///
    /// # Errors
    /// Errors of the plan, and too little memory.
    pub(super) async fn build(
        plan: Arc<dyn ExecutionPlan>,
        data_type: &DataType,
        engine: &SessionState,
    ) -> Result<Self> {
        let pool = &engine.runtime_env().memory_pool;
        let mut members = Self {
            data_type: data_type.clone(),
            converter: RowConverter::new(vec![SortField::new(data_type.clone())])?,
            values: HashSet::new(),
            has_null: false,
            memory: MemoryConsumer::new("values of a subquery").register(pool),
        };
        let mut stream = execute_stream(plan, engine.task_ctx())?;
        while let Some(batch) = stream.try_next().await? {
            members.add(batch.column(0))?;
        }
        Ok(members)
    }

    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        let values = same(cast(values, &self.data_type)?);
        self.has_null |= values.null_count() > 0;
        let encoded = self.converter.convert_columns(std::slice::from_ref(&values))?;
        for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
            let bytes = encoded.row(row);
            let bytes: &[u8] = bytes.as_ref();
            if !self.values.contains(bytes) {
                self.memory.try_grow(bytes.len() + ENTRY_BYTES)?;
                self.values.insert(bytes.into());
            }
        }
        Ok(())
    }

    /// Whether each of some values is among them; `None` where that is unknown because of NULLs.
    ///
    /// # Errors
    /// Errors of Arrow.
    pub(super) fn contain(&self, wanted: &ArrayRef) -> Result<Vec<Option<bool>>> {
        let wanted = same(Arc::clone(wanted));
        let encoded = self.converter.convert_columns(std::slice::from_ref(&wanted))?;
        let is_empty = self.values.is_empty() && !self.has_null;
        let one = |row: usize| match () {
            () if is_empty => Some(false),
            () if wanted.is_null(row) => None,
            () if self.values.contains(encoded.row(row).as_ref()) => Some(true),
            () => (!self.has_null).then_some(false),
        };
        Ok((0..wanted.len()).map(one).collect())
    }
}
