//! Memory of a connection, which counts towards the database's limit.

use query::Error;
use query::store::Memory;
use std::sync::Arc;

/// Memory that is released on drop.
#[derive(Debug)]
pub(crate) struct Held {
    memory: Arc<Memory>,
    bytes: usize,
    /// What it may have at most, for what its owner can do without.
    bytes_max: Option<usize>,
}

impl Held {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0, bytes_max: None }
    }

    /// Memory for what its owner can do without.
    pub(crate) fn at_most(memory: &Arc<Memory>, bytes: usize) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0, bytes_max: Some(bytes) }
    }

    /// Acquires more memory. Returns whether there is enough for an owner that can do without.
    ///
    /// # Errors
    /// 53200 if the limit is reached, for an owner that cannot do without.
    pub(crate) fn keep(&mut self, bytes: usize) -> Result<bool, Error> {
        match self.bytes_max {
            Some(most) => Ok(self.bytes.saturating_add(bytes) <= most && self.grow(bytes).is_ok()),
            None => self.grow(bytes).map(|()| true),
        }
    }

    /// Acquires more memory.
    ///
    /// # Errors
    /// 53200 if the limit is reached.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Error> {
        self.memory.try_grow_query(bytes as u64)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Sets the amount of memory.
    ///
    /// # Errors
    /// 53200 if it grows and the limit is reached.
    pub(crate) fn set(&mut self, bytes: usize) -> Result<(), Error> {
        match bytes.checked_sub(self.bytes) {
            Some(more) => self.grow(more),
            None => {
                self.memory.shrink_query((self.bytes - bytes) as u64);
                self.bytes = bytes;
                Ok(())
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.shrink_query(self.bytes as u64);
    }
}
