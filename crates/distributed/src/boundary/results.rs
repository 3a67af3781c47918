//! Rows that this server stores for statements of other servers.

use super::stored::Stored;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use store::ExchangeId;
use values::{Error, Result, SqlState};

/// Stored rows by name. They exist as long as their [`Held`].
#[derive(Debug, Default)]
pub struct Results(Mutex<HashMap<ExchangeId, Arc<Stored>>>);

impl Results {
    /// Number of names.
    pub fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Adds rows under a name, until the result is dropped.
    ///
    /// # Errors
    /// 08P01 if the name exists.
    pub(crate) fn insert(self: &Arc<Self>, id: ExchangeId, rows: Arc<Stored>) -> Result<Held> {
        let mut results = self.0.lock();
        if results.contains_key(&id) {
            let message = "the rows of a bundle are stored twice";
            return Err(Error::new(SqlState::ProtocolViolation, message));
        }
        results.insert(id, rows);
        Ok(Held { results: Arc::clone(self), id })
    }

    /// The rows under a name.
    ///
    /// # Errors
    /// 08006 if there are none.
    pub(crate) fn get(&self, id: ExchangeId) -> Result<Arc<Stored>> {
        self.0.lock().get(&id).cloned().ok_or_else(|| {
            let message = "the rows of a bundle are gone: its coordinator has ended it or is lost";
            Error::new(SqlState::ConnectionFailure, message)
        })
    }
}

/// Keeps rows under their name.
#[derive(Debug)]
pub(crate) struct Held {
    results: Arc<Results>,
    id: ExchangeId,
}

impl Drop for Held {
    fn drop(&mut self) {
        let rows = self.results.0.lock().remove(&self.id);
        drop(rows);
    }
}
