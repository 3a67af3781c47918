//! The rows of a subquery for all outer values, found by key.
//!
//! Built once for a statement, when enough outer values need rows. Its bytes count against the
//! memory of queries.

use super::keyed::Keyed;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{cast, concat_batches, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// Bytes that a row number and the entry of its key take in addition to the key.
const ENTRY_BYTES: usize = 64;

/// The rows of a subquery by key.
#[derive(Debug)]
pub(super) struct Index {
    /// The subquery's rows. Keys are their last columns.
    rows: RecordBatch,
    places: HashMap<Box<[u8]>, Vec<u32>>,
    converter: RowConverter,
    /// The rows for a key that has none, if the subquery answers nevertheless.
    nothing: OnceCell<RecordBatch>,
    _memory: MemoryReservation,
}

/// The rows for one key or set of outer values.
pub(super) enum Found {
    /// These.
    Rows(RecordBatch),
    /// Those of any that has none.
    Nothing,
}

impl Index {
    /// Runs the plan of a keyed subquery.
    ///
    /// # Errors
    /// Errors of the plan, also in rows that no outer value needs, and too little memory.
    pub(super) async fn build(
        keyed: &Keyed,
        plan: Arc<dyn ExecutionPlan>,
        engine: &SessionState,
    ) -> Result<Self> {
        let pool = &engine.runtime_env().memory_pool;
        let memory = MemoryConsumer::new("subquery rows by key").register(pool);
        let schema = plan.schema();
        let mut stream = execute_stream(plan, engine.task_ctx())?;
        let mut batches = Vec::new();
        while let Some(batch) = stream.try_next().await? {
            memory.try_grow(2 * batch.get_array_memory_size())?;
            batches.push(batch);
        }
        let all = concat_batches(&schema, &batches)?;
        drop(batches);
        let own = schema.fields().len() - keyed.outer.len();
        let types = keyed.outer.iter().map(|(_, data_type)| SortField::new(data_type.clone()));
        let converter = RowConverter::new(types.collect())?;
        let mut places: HashMap<Box<[u8]>, Vec<u32>> = HashMap::new();
        let keys = typed(keyed, &all.columns()[own..])?;
        let encoded = converter.convert_columns(&keys)?;
        memory.try_grow(encoded.size() + ENTRY_BYTES * all.num_rows())?;
        for (row, key) in encoded.iter().enumerate() {
            if keys.iter().all(|column| column.is_valid(row)) {
                places.entry(key.as_ref().into()).or_default().push(row as u32);
            }
        }
        Ok(Self { rows: all, places, converter, nothing: OnceCell::new(), _memory: memory })
    }

    /// The rows for each of some outer values, which are rows of `outer`.
    ///
    /// # Errors
    /// Errors of Arrow.
    pub(super) fn find(&self, keyed: &Keyed, outer: &[ArrayRef]) -> Result<Vec<Found>> {
        let keys = self.converter.convert_columns(&typed(keyed, outer)?)?;
        keys.iter().map(|key| self.rows_of(keyed, key.as_ref())).collect()
    }

    fn rows_of(&self, keyed: &Keyed, key: &[u8]) -> Result<Found> {
        let places = match self.places.get(key) {
            Some(places) => places.as_slice(),
            None if keyed.answers_nothing => return Ok(Found::Nothing),
            None => &[],
        };
        let places = places.get(keyed.skip..).unwrap_or_default();
        let places = &places[..keyed.fetch.unwrap_or(places.len()).min(places.len())];
        Ok(Found::Rows(match places {
            [] => self.rows.slice(0, 0),
            [place] => self.rows.slice(*place as usize, 1),
            _ => take_record_batch(&self.rows, &UInt32Array::from(places.to_vec()))?,
        }))
    }

    /// Where the rows of keys without rows are kept.
    pub(super) fn nothing(&self) -> &OnceCell<RecordBatch> {
        &self.nothing
    }
}

/// Columns of keys in the types in which they are compared.
fn typed(keyed: &Keyed, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
    let typed = columns.iter().zip(&keyed.outer);
    typed.map(|(column, (_, data_type))| Ok(same(cast(column, data_type)?))).collect()
}

/// A column in which floating-point numbers that are equal are the same.
pub(super) fn same(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            let same = |value: f32| if value.is_nan() { f32::NAN } else { value + 0.0 };
            Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(same))
        }
        DataType::Float64 => {
            let same = |value: f64| if value.is_nan() { f64::NAN } else { value + 0.0 };
            Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(same))
        }
        _ => column,
    }
}
