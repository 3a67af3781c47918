//! The engine's memory pool, which draws on the store's limit.

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryLimit, MemoryPool, MemoryReservation};
use std::fmt;
use std::sync::Arc;
use store::Memory;

/// The memory of queries: what tables leave of the limit.
#[derive(Debug)]
pub(crate) struct QueryMemory(pub(crate) Arc<Memory>);

impl fmt::Display for QueryMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl MemoryPool for QueryMemory {
    fn name(&self) -> &str {
        "query memory"
    }

    fn grow(&self, _: &MemoryReservation, additional: usize) {
        self.0.grow_query(additional as u64);
    }

    fn shrink(&self, _: &MemoryReservation, shrink: usize) {
        self.0.shrink_query(shrink as u64);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.0.try_grow_query(additional as u64).map_err(|error| {
            let consumer = reservation.consumer().name();
            DataFusionError::ResourcesExhausted(format!("{consumer}: {error}"))
        })
    }

    fn reserved(&self) -> usize {
        self.0.query_bytes() as usize
    }

    fn memory_limit(&self) -> MemoryLimit {
        match self.0.limit() {
            Some(limit) => MemoryLimit::Finite(limit as usize),
            None => MemoryLimit::Infinite,
        }
    }
}
