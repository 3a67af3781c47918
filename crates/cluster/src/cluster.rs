//! One server of a cluster, for programs.

use crate::calls::CountingNetwork;
use crate::heartbeat;
use crate::membership::{Member, Members, ROOT};
use crate::moving;
use crate::node::{Beginning, Node};
use crate::peers::NodePeers;
use crate::report;
use crate::root::Root;
use crate::runtime::Tasks;
use crate::service;
use crate::timeouts::TIMEOUTS;
use bytes::Bytes;
use messages::{RootRequest, ServerReport};
use net::{Answers, Caller, Service};
use sdds::{GroupId, KeyRange, ServerId};
use std::sync::Arc;
use store::catalog::TableId;
use store::{Error, Fragments, MoveSetting, Peers, Store};

/// One server of a cluster. Clones are handles on the same server.
#[derive(Debug, Clone)]
pub struct Cluster(Arc<Node>);

impl Cluster {
    /// Connects the store to the cluster.
    pub(crate) fn connect(
        member: &Member,
        members: Members,
        store: Arc<Store>,
        network: CountingNetwork,
        tasks: Tasks,
        begin: Beginning,
    ) -> Self {
        let node = Arc::new(Node::new(member, members, store, network, tasks, begin));
        let cluster = Self(node);
        cluster.0.store.join(cluster.peers());
        cluster
    }

    /// The root of the cluster, on its first server.
    pub(crate) fn root(&self) -> Option<&Root> {
        self.0.calls.root.as_ref()
    }

    /// Starts the periodic work, and what was left open before a restart.
    pub(crate) fn begin(self, begin: Beginning) -> Self {
        if begin.has_returned {
            self.0.files.restore(begin.start);
            if let Some(root) = self.root() {
                root.begin(begin.start);
            }
            self.0.transactions.take_undecided();
        }
        if begin.has_returned {
            let moves = Arc::clone(&self.0.moves);
            self.0.calls.tasks.spawn(moving::finish(moves, begin.start));
        }
        heartbeat::start(&self.0);
        self
    }

    /// Sets what executes plan fragments of other servers. Later calls have no effect.
    pub fn set_fragments(&self, fragments: Arc<dyn Fragments>) {
        let _ = self.0.fragments.set(fragments);
    }

    /// Sets the address at which PostgreSQL clients connect to this server, `host:port`. The other
    /// servers learn it, and tell it to clients that address owners directly. Later calls have no
    /// effect.
    pub fn set_pg(&self, address: String) {
        let _ = self.0.membership.pg.set(address);
    }

    /// The members of the cluster, as known to this server.
    pub fn members(&self) -> Members {
        self.0.membership.list().clone()
    }

    /// The store of this server.
    pub fn store(&self) -> &Arc<Store> {
        &self.0.store
    }

    /// The number of this server.
    pub fn here(&self) -> ServerId {
        self.0.membership.here
    }

    /// Whether this is the root server.
    pub fn is_root(&self) -> bool {
        self.root().is_some()
    }

    /// The cluster as transactions of this server use it.
    pub fn peers(&self) -> Arc<dyn Peers> {
        Arc::new(NodePeers::coordinating(&self.0))
    }

    /// Stops this server: it sends no heartbeats, answers no requests, and moves nothing. Running
    /// statements of its clients fail as if the other servers could not be reached. The root evicts
    /// it after a while.
    ///
    /// To lose no rows, empty the server first ([`Self::set_weight`]). A cluster and its store
    /// refer to each other: without this call running work continues after the last handle is
    /// dropped.
    pub fn stop(&self) {
        self.0.calls.stopped.cancel();
    }

    /// Tells the root that this server leaves, and [stops](Self::stop) it. Rows that are still here
    /// are lost, unless the server keeps its data: then it stays a member, and is expected back.
    pub async fn leave(&self) {
        let keeps_rows =
            self.0.store.journal().is_some() && !report::load(&self.0).tables.is_empty();
        if self.0.calls.root.is_none() && !keeps_rows {
            match self.0.calls.tasks.within(TIMEOUTS.call, say_goodbye(&self.0)).await {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    tracing::warn!(%error, "could not tell the root server that this one leaves");
                }
                None => {
                    tracing::warn!("could not tell the root server in time that this one leaves");
                }
            }
        }
        self.stop();
    }

    /// The state of every server; an error for those that cannot be reached.
    pub async fn report(&self) -> Vec<(Member, Result<ServerReport, Error>)> {
        report::report(&self.0).await
    }

    /// Changes a server's share of every table, relative to the other servers. Zero empties the
    /// server.
    ///
    /// # Errors
    /// 42704 if no server has this name; [`Error::Unreachable`] if the root cannot be reached.
    pub async fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error> {
        let request = RootRequest::SetWeight { name: name.to_owned(), weight };
        Ok(self.0.calls.ask_root(&request).await.map(drop)?)
    }

    /// Changes a setting of moves on all servers.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if the root cannot be reached.
    pub async fn change_moves(&self, change: MoveSetting) -> Result<(), Error> {
        Ok(self.0.calls.ask_root(&RootRequest::ChangeMoves { change }).await.map(drop)?)
    }

    /// Moves a range that this server owns to another group, regardless of balance. Completes even
    /// if the caller is dropped.
    ///
    /// # Errors
    /// [`Error::NotOwned`]; 55P03 if transactions keep writing to the range, or during another
    /// move; [`Error::Unreachable`]. The range is then still here.
    pub async fn give(&self, table: TableId, range: &KeyRange, to: GroupId) -> Result<(), Error> {
        moving::give(&self.0.moves, table, range, to).await
    }
}

impl Service for Cluster {
    fn serve(&self, _from: Caller, request: Bytes) -> Answers {
        service::serve(&self.0, request)
    }
}

/// Gives the directory's pages to the root, and tells it that this server leaves.
async fn say_goodbye(node: &Node) -> Result<(), Error> {
    node.routing.hand_over_pages().await;
    let is_empty = report::load(node).tables.is_empty();
    let (server, start) = (node.membership.here, node.membership.start);
    let request = RootRequest::Leave { server, start, is_empty };
    node.calls.ask_leader(ROOT, &request).await?;
    Ok(())
}
