//! The first phase of a commit on several servers.
//!
//! ```text
//! running -- prepare --> prepared -- commit(timestamp) --> committed
//!                            +------ drop ---------------> rolled back
//! ```
//!
//! The writes of a prepared transaction are not visible, and conflicting transactions are refused.
//! A reader at a timestamp at which the transaction may commit waits ([`Store::snapshot_at`]).

use super::Transaction;
use crate::holds::HoldId;
use crate::peers::{Prepared, PreparedPart};
use crate::store::{CommitRequest, Ready, Store};
use crate::write_set::bytes;
use crate::{Error, Snapshot};
use sdds::Timestamp;
use std::sync::Arc;

/// The prepared part of a transaction on a store.
#[derive(Debug)]
struct PreparedTransaction {
    store: Arc<Store>,
    hold: HoldId,
    /// `None` once it is committed.
    request: Option<(CommitRequest, Ready)>,
}

impl Transaction {
    /// Prepares the commit: checks for conflicts with committed and prepared transactions. Returns
    /// `None` if it has written nothing.
    ///
    /// # Errors
    /// [`Error::Conflict`] and [`Error::SchemaConflict`].
    pub fn prepare(self) -> Result<Option<Prepared>, Error> {
        let store = Arc::clone(self.store());
        let Some(mut request) = self.into_request()? else { return Ok(None) };
        let ready = store.ready_blocking(&request)?;
        let hold = store.prepare(&request)?;
        request.staging = None;
        let request = Some((request, ready));
        Ok(Some(Prepared::new(PreparedTransaction { store, hold, request })))
    }
}

impl PreparedPart for PreparedTransaction {
    fn bytes(&self) -> u64 {
        self.request.as_ref().map_or(0, |(request, _)| bytes(&request.writes))
    }

    fn commit(mut self: Box<Self>, timestamp: Timestamp) {
        if let Some((request, ready)) = self.request.take() {
            self.store.observe(timestamp);
            // A journal that has stopped ends the server.
            let _ = self.store.apply(&mut self.store.machine(), request, ready, timestamp);
        }
    }
}

impl Drop for PreparedTransaction {
    fn drop(&mut self) {
        self.store.holds().release(self.hold);
    }
}

impl Store {
    /// Begins a transaction on what is committed now.
    pub fn begin(self: &Arc<Self>) -> Transaction {
        self.begin_at(self.snapshot())
    }

    /// Begins a transaction on a snapshot of this store.
    pub fn begin_at(self: &Arc<Self>, snapshot: Snapshot) -> Transaction {
        Transaction::new(Arc::clone(self), snapshot)
    }
}
