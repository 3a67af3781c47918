//! The rows of a subquery for each set of outer values.

use super::super::index::Found;
use super::Domain;
use crate::physical_plan;
use datafusion::arrow::array::{AsArray, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::arrow::datatypes::Int32Type;
use datafusion::common::Result;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::execute_stream;
use futures::TryStreamExt;

/// The rows of all sets.
pub(in super::super) struct Rows {
    rows: RecordBatch,
    /// The places of each set's rows.
    places: Vec<Vec<u32>>,
    answers_nothing: bool,
    _memory: MemoryReservation,
}

impl Domain {
    /// Runs the subquery for its sets, of which there are `count`.
    ///
    /// # Errors
    /// Errors of the plan, also in rows that no answer needs, and too little memory.
    pub(in super::super) async fn rows(self, count: usize, engine: &SessionState) -> Result<Rows> {
        let plan = Box::pin(physical_plan(engine, &self.plan)).await?;
        let pool = &engine.runtime_env().memory_pool;
        let memory = MemoryConsumer::new("subquery rows by outer values").register(pool);
        let schema = plan.schema();
        let mut stream = execute_stream(plan, engine.task_ctx())?;
        let mut batches = Vec::new();
        while let Some(batch) = stream.try_next().await? {
            memory.try_grow(2 * batch.get_array_memory_size() + 4 * batch.num_rows())?;
            batches.push(batch);
        }
        let rows = concat_batches(&schema, &batches)?;
        let mut places = vec![Vec::new(); count];
        if let Some(sets) = rows.columns().last() {
            for (row, set) in sets.as_primitive::<Int32Type>().values().iter().enumerate() {
                places[*set as usize].push(row as u32);
            }
        }
        for places in &mut places {
            places.drain(..self.skip.min(places.len()));
            places.truncate(self.fetch.unwrap_or(places.len()));
        }
        Ok(Rows { rows, places, answers_nothing: self.answers_nothing, _memory: memory })
    }
}

impl Rows {
    /// The rows of a set.
    ///
    /// # Errors
    /// Errors of Arrow.
    pub(in super::super) fn of(&self, set: usize) -> Result<Found> {
        Ok(Found::Rows(match self.places[set].as_slice() {
            [] if self.answers_nothing => return Ok(Found::Nothing),
            [] => self.rows.slice(0, 0),
            [place] => self.rows.slice(*place as usize, 1),
            places => take_record_batch(&self.rows, &UInt32Array::from(places.to_vec()))?,
        }))
    }
}
