//! The rows that bundles of other servers' statements have left here, for the bundle that runs next.

use super::stored::Stored;
use crate::values::error::{Error, Result, SqlState};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use store::ExchangeId;

/// Stored rows by name. They are here for as long as somebody holds them.
#[derive(Debug, Default)]
pub(crate) struct Results(Mutex<HashMap<ExchangeId, Arc<Stored>>>);

impl Results {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.lock().len()
    }

    /// Rows that are stored under a name, until what comes back is dropped.
    ///
    /// # Errors
    /// 08P01 where there are some of this name.
    pub(crate) fn insert(self: &Arc<Self>, id: ExchangeId, rows: Arc<Stored>) -> Result<Held> {
        let mut results = self.0.lock();
        if results.contains_key(&id) {
            let message = "the rows of a bundle are stored twice";
            return Err(Error::new(SqlState::ProtocolViolation, message));
        }
        results.insert(id, rows);
        Ok(Held { results: Arc::clone(self), id })
    }

    /// The rows of a name.
    ///
    /// # Errors
    /// 08006 where there are none.
    pub(crate) fn get(&self, id: ExchangeId) -> Result<Arc<Stored>> {
        self.0.lock().get(&id).cloned().ok_or_else(|| {
            let message = "the rows of a bundle are gone: its coordinator has ended it, or is lost";
            Error::new(SqlState::ConnectionFailure, message)
        })
    }
}

/// Rows under a name.
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
