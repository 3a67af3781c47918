//! Memory accounting: tables and queries share one limit.
//!
//! Tables have precedence: queries are refused memory first. Amounts are logical bytes, not what
//! the allocator uses.

use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that no computer has.
const ALL_BYTES: u64 = 1 << 56;

/// Bytes in use by tables and by queries, under one limit.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    tables: AtomicU64,
    queries: AtomicU64,
}

impl Memory {
    /// Creates an account with a limit in bytes; `None` for no limit.
    pub fn new(limit: Option<u64>) -> Arc<Self> {
        let limit = limit.unwrap_or(u64::MAX);
        Arc::new(Self { limit, tables: AtomicU64::new(0), queries: AtomicU64::new(0) })
    }

    /// Returns the limit in bytes; `None` if there is none.
    pub fn limit(&self) -> Option<u64> {
        (self.limit != u64::MAX).then_some(self.limit)
    }

    /// Returns the bytes of runs, deltas and uncommitted writes.
    pub fn table_bytes(&self) -> u64 {
        self.tables.load(Ordering::Relaxed)
    }

    /// Returns the bytes reserved by running queries.
    pub fn query_bytes(&self) -> u64 {
        self.queries.load(Ordering::Relaxed)
    }

    /// Reserves memory for a query.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if tables and queries together would exceed the limit.
    pub fn try_grow_query(&self, bytes: u64) -> Result<(), Error> {
        self.try_grow(&self.queries, bytes)
    }

    /// Reserves memory for a query, regardless of the limit.
    pub fn grow_query(&self, bytes: u64) {
        self.queries.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Releases memory of a query.
    pub fn shrink_query(&self, bytes: u64) {
        self.queries.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn try_grow(&self, part: &AtomicU64, bytes: u64) -> Result<(), Error> {
        // The sum of more than there can be would begin again at zero.
        let added = bytes.min(ALL_BYTES);
        part.fetch_add(added, Ordering::Relaxed);
        let used = self.table_bytes() + self.query_bytes();
        if used <= self.limit && added == bytes {
            return Ok(());
        }
        part.fetch_sub(added, Ordering::Relaxed);
        Err(Error::OutOfMemory { requested: bytes, used: used - added, limit: self.limit })
    }

    /// Replaces an amount of table memory by another, regardless of the limit.
    pub(crate) fn tables_changed(&self, before: u64, after: u64) {
        self.tables.fetch_add(after, Ordering::Relaxed);
        self.tables.fetch_sub(before, Ordering::Relaxed);
    }
}

/// Table memory of uncommitted writes. Dropping it releases the memory.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Reservation {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Reserves more memory, or fails and changes nothing.
    pub(crate) fn try_grow(&mut self, bytes: u64) -> Result<(), Error> {
        self.memory.try_grow(&self.memory.tables, bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Changes the amount, regardless of the limit: a delete must succeed when memory is full.
    pub(crate) fn set(&mut self, bytes: u64) {
        self.memory.tables_changed(self.bytes, bytes);
        self.bytes = bytes;
    }

    /// Takes over the memory of another reservation.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.tables_changed(self.bytes, 0);
    }
}
