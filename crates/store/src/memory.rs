//! One limit for all memory: what tables hold and what queries use.
//!
//! Tables come first: a query is refused memory before a write is. Figures are what we account, not
//! what the allocator does; the accounting is by logical bytes (`PAPERS.md` C4: access and memory are
//! known per bucket).

use crate::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes in use, by tables and by queries, under one limit.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    tables: AtomicU64,
    queries: AtomicU64,
}

impl Memory {
    /// No limit is the largest limit.
    pub fn new(limit: Option<u64>) -> Arc<Self> {
        let limit = limit.unwrap_or(u64::MAX);
        Arc::new(Self { limit, tables: AtomicU64::new(0), queries: AtomicU64::new(0) })
    }

    /// Bytes that may be in use; `None` without a limit.
    pub fn limit(&self) -> Option<u64> {
        (self.limit != u64::MAX).then_some(self.limit)
    }

    /// Bytes of runs, deltas and uncommitted writes.
    pub fn table_bytes(&self) -> u64 {
        self.tables.load(Ordering::Relaxed)
    }

    /// Bytes that running queries have asked for.
    pub fn query_bytes(&self) -> u64 {
        self.queries.load(Ordering::Relaxed)
    }

    /// Takes memory for a query.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when tables and queries would together pass the limit.
    pub fn try_grow_query(&self, bytes: u64) -> Result<(), Error> {
        self.try_grow(&self.queries, bytes)
    }

    /// Takes memory for a query that cannot do without.
    pub fn grow_query(&self, bytes: u64) {
        self.queries.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Gives a query's memory back.
    pub fn shrink_query(&self, bytes: u64) {
        self.queries.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn try_grow(&self, part: &AtomicU64, bytes: u64) -> Result<(), Error> {
        part.fetch_add(bytes, Ordering::Relaxed);
        let used = self.table_bytes() + self.query_bytes();
        if used <= self.limit {
            return Ok(());
        }
        part.fetch_sub(bytes, Ordering::Relaxed);
        Err(Error::OutOfMemory { requested: bytes, used: used - bytes, limit: self.limit })
    }

    /// A table's bytes change from one figure to another, whatever the limit.
    pub(crate) fn tables_changed(&self, before: u64, after: u64) {
        self.tables.fetch_add(after, Ordering::Relaxed);
        self.tables.fetch_sub(before, Ordering::Relaxed);
    }
}

/// Memory of tables that is given back when this value goes: uncommitted writes.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Reservation {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Takes more, or nothing.
    pub(crate) fn try_grow(&mut self, bytes: u64) -> Result<(), Error> {
        self.memory.try_grow(&self.memory.tables, bytes)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Holds so much from now on, beyond the limit if need be: what it takes to delete.
    pub(crate) fn set(&mut self, bytes: u64) {
        self.memory.tables_changed(self.bytes, bytes);
        self.bytes = bytes;
    }

    /// Takes over what another has taken.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.memory.tables_changed(self.bytes, 0);
    }
}
