//! The parts of one server of a cluster. State only: the modules that use it are above.

use crate::calls::{Calls, CountingNetwork};
use crate::directory::Files;
use crate::membership::{Member, Members, Membership, ROOT};
use crate::moving::Moves;
use crate::root::{Root, first_of};
use crate::routing::Routing;
use crate::runtime::Tasks;
use crate::transactions::Transactions;
use parking_lot::{Mutex, RwLock};
use protocols::numbers::Sent;
use sdds::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use store::catalog::TableId;
use store::{Error, Fragments, Store, TableTotal};

/// Where a server begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beginning {
    /// The newest known timestamp.
    pub(crate) now: Timestamp,
    /// The number of this start of the server.
    pub(crate) start: u64,
    /// Whether the server was a member before.
    pub(crate) has_returned: bool,
}

/// One server of a cluster.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) membership: Arc<Membership>,
    pub(crate) store: Arc<Store>,
    pub(crate) files: Arc<Files>,
    pub(crate) calls: Arc<Calls>,
    pub(crate) transactions: Arc<Transactions>,
    pub(crate) routing: Arc<Routing>,
    pub(crate) moves: Arc<Moves>,
    /// The requests for advisory locks that this server has sent.
    pub(crate) numbers: Mutex<Sent>,
    /// Executes plan fragments of other servers. Not set while the server starts.
    pub(crate) fragments: OnceLock<Arc<dyn Fragments>>,
    /// The size of each table on all servers, as last told by the root.
    pub(crate) totals: RwLock<BTreeMap<TableId, TableTotal>>,
}

impl Node {
    /// The server `member`.
    pub(crate) fn new(
        member: &Member,
        members: Members,
        store: Arc<Store>,
        network: CountingNetwork,
        tasks: Tasks,
        begin: Beginning,
    ) -> Self {
        let Beginning { now, start, .. } = begin;
        let membership = Arc::new(Membership::new(member, members, start));
        let files = Arc::new(Files::new(Arc::clone(&membership), Arc::clone(&store)));
        let root = membership.is_here(ROOT).then(|| {
            Root::new(
                Arc::clone(&membership),
                Arc::clone(&files),
                Arc::clone(&store),
                tasks.clone(),
                now,
                start,
            )
        });
        let calls = Arc::new(Calls::new(Arc::clone(&membership), network, tasks.clone(), root));
        let transactions = Arc::new(Transactions::new(
            Arc::clone(&membership),
            Arc::clone(&calls),
            Arc::clone(&store),
            now,
            start,
        ));
        let routing = Arc::new(Routing {
            membership: Arc::clone(&membership),
            calls: Arc::clone(&calls),
            files: Arc::clone(&files),
            store: Arc::clone(&store),
        });
        let moves = Arc::new(Moves::new(Arc::clone(&routing), start));
        Self {
            membership,
            store,
            files,
            calls,
            transactions,
            routing,
            moves,
            numbers: Mutex::new(Sent::from(first_of(start))),
            fragments: OnceLock::new(),
            totals: RwLock::default(),
        }
    }

    /// Executes plan fragments of other servers.
    ///
    /// # Errors
    /// [`Error::Unreachable`] while this server starts.
    pub(crate) fn fragments(&self) -> Result<Arc<dyn Fragments>, Error> {
        let starting = || Error::unreachable(self.membership.name.clone(), "it is still starting");
        self.fragments.get().cloned().ok_or_else(starting)
    }
}
