//! Memory that functions need in addition to what operators reserve.

use crate::scope;
use std::sync::Arc;
use store::Memory;
use values::error::{Error, Result};

/// Amounts below this are not accounted for: it would cost more than it tells.
const FREE_BYTES: u64 = 1 << 20;

/// Memory of the statement that this thread is working for, on top of what its operators have reserved. Dropping it
/// releases the memory. Outside of statements nothing is accounted for.
#[derive(Debug)]
pub struct Held {
    memory: Option<Arc<Memory>>,
    bytes: u64,
}

impl Held {
    /// An account of nothing yet.
    pub fn nothing() -> Self {
        Self { memory: scope::memory(), bytes: 0 }
    }

    /// Reserves memory, in bytes, up to a new total. A smaller total releases nothing.
    ///
    /// # Errors
    /// 53200 if there is not so much memory.
    pub fn grow_to(&mut self, bytes: u64) -> Result<()> {
        if let Some(memory) = &self.memory
            && bytes > self.bytes + FREE_BYTES
        {
            memory.try_grow_query(bytes - self.bytes).map_err(Error::from)?;
            self.bytes = bytes;
        }
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(memory) = &self.memory {
            memory.shrink_query(self.bytes);
        }
    }
}
