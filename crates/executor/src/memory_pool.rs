//! The engine's memory pool, which draws on the store's limit.
//!
//! Operators that can write to temporary files share the memory: when little is left, those that have more than their share
//! write. Otherwise the first sort of several would take everything, and the others could not even begin.

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::Memory;

/// The memory of queries: what tables leave of the limit.
#[derive(Debug)]
pub struct QueryMemory {
    memory: Arc<Memory>,
    /// Reservations of operators that can write to temporary files.
    spilling: AtomicU64,
}

impl QueryMemory {
    /// The memory that a store leaves of its limit.
    pub fn new(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), spilling: AtomicU64::new(0) }
    }

    /// Whether a reservation of an operator that can write to temporary files should not grow: three quarters of the memory
    /// are taken, and it has more than its share.
    fn exceeds_share(&self, reserved: u64, additional: u64) -> bool {
        let Some(limit) = self.memory.limit() else { return false };
        let all = limit.saturating_sub(self.memory.table_bytes());
        let share = all / self.spilling.load(Ordering::Relaxed).max(1);
        let taken = self.memory.query_bytes().saturating_add(additional);
        reserved > 0 && taken > all / 4 * 3 && reserved.saturating_add(additional) > share
    }
}

impl fmt::Display for QueryMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl MemoryPool for QueryMemory {
    fn name(&self) -> &str {
        "query memory"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.spilling.fetch_add(consumer.can_spill().into(), Ordering::Relaxed);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.spilling.fetch_sub(consumer.can_spill().into(), Ordering::Relaxed);
    }

    fn grow(&self, _: &MemoryReservation, additional: usize) {
        self.memory.grow_query(additional as u64);
    }

    fn shrink(&self, _: &MemoryReservation, shrink: usize) {
        self.memory.shrink_query(shrink as u64);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let (consumer, bytes) = (reservation.consumer(), additional as u64);
        if consumer.can_spill() && self.exceeds_share(reservation.size() as u64, bytes) {
            let message = format!("{}: it has more than its share of the memory", consumer.name());
            return Err(DataFusionError::ResourcesExhausted(message));
        }
        self.memory.try_grow_query(bytes).map_err(|error| {
            DataFusionError::ResourcesExhausted(format!("{}: {error}", consumer.name()))
        })
    }

    fn reserved(&self) -> usize {
        self.memory.query_bytes() as usize
    }

    fn memory_limit(&self) -> MemoryLimit {
        match self.memory.limit() {
            Some(limit) => MemoryLimit::Finite(limit as usize),
            None => MemoryLimit::Infinite,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_quarter_is_for_those_below_their_share() {
        let memory = Memory::new(Some(400));
        let pool: Arc<dyn MemoryPool> = Arc::new(QueryMemory::new(&memory));
        let sort = |name| MemoryConsumer::new(name).with_can_spill(true).register(&pool);
        let (first, second) = (sort("first"), sort("second"));
        first.try_grow(300).expect("nobody else needs it");
        assert!(first.try_grow(10).is_err(), "it is to write first");
        second.try_grow(90).expect("it has less than half");
        let join = MemoryConsumer::new("join").register(&pool);
        join.try_grow(10).expect("it cannot write");
        assert!(join.try_grow(10).is_err(), "there is no more");
    }
}
