//! What the sessions of a database share.

use super::engine::Engine;
use super::sessions::Sessions;
use catalog_views::session_context::{Backups, DatabaseContext, Running, SessionContext};
use distributed::Node;
use executor::Executors;
use notifications::Hub;
use parking_lot::Mutex;
use planner::PlanView;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::{Recovery, Store};

/// What the sessions of a database share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<Store>,
    pub(crate) engine: Engine,
    pub(crate) bucket_size: u64,
    pub(crate) executors: Option<Executors>,
    pub(crate) running: Mutex<BTreeMap<u64, Running>>,
    pub(crate) sessions: Sessions,
    /// The sessions that listen.
    pub(crate) hub: Hub,
    pub(crate) node: Node,
    pub(crate) next_number: AtomicU64,
    /// What was found in the data directory.
    pub(crate) recovery: Option<Recovery>,
    pub(crate) backups: Backups,
    /// Plans the queries of views.
    pub(crate) plan_view: PlanView,
}

impl DatabaseContext for Shared {
    fn store(&self) -> &Arc<Store> {
        &self.store
    }

    fn recovery(&self) -> Option<&Recovery> {
        self.recovery.as_ref()
    }

    fn bucket_size(&self) -> u64 {
        self.bucket_size
    }

    fn running(&self) -> Vec<Running> {
        self.running.lock().values().cloned().collect()
    }

    fn connected_sessions(&self) -> Vec<Arc<dyn SessionContext>> {
        self.sessions.connected()
    }

    fn connected_session(&self, process: i64) -> Option<Arc<dyn SessionContext>> {
        self.sessions.get(process)
    }

    fn backups(&self) -> &Backups {
        &self.backups
    }

    fn exchange_count(&self) -> usize {
        self.node.exchanges.count()
    }

    fn stored_bundle_count(&self) -> usize {
        self.node.results.count()
    }
}

impl Shared {
    /// A new number for a session or a statement.
    pub(crate) fn next_number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }
}
