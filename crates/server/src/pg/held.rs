//! Memory that a connection holds, drawn from the database's own limit.

use query::Error;
use query::store::Memory;
use std::sync::Arc;

/// Memory that is given back when this value goes.
#[derive(Debug)]
pub(crate) struct Held {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Held {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        Self { memory: Arc::clone(memory), bytes: 0 }
    }

    /// Takes more.
    ///
    /// # Errors
    /// 53200 where the database's memory is used up.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Error> {
        self.memory.try_grow_query(bytes as u64)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Holds exactly so much from now on.
    ///
    /// # Errors
    /// 53200 where that is more and the database's memory is used up.
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
