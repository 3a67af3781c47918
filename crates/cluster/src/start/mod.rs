//! Founding a cluster, or joining one.
//!
//! `process`: a server that listens over TCP. `starting`: its answers before it has joined.

mod process;
mod starting;

pub use process::{Entry, ServerConfig, ServerData, StartError, Started, start};

use crate::calls::{CallError, CountingNetwork};
use crate::cluster::Cluster;
use crate::facts::{self, Identity};
use crate::membership::{Member, Members, ROOT};
use crate::node::Beginning;
use crate::root::Root;
use crate::runtime::Tasks;
use crate::timeouts::TIMEOUTS;
use messages::{Envelope, Reply, RootAnswer, RootRequest, decode, encode, unexpected};
use net::{Address, Network, ask};
use sdds::Timestamp;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use store::catalog::Catalog;
use store::{Error, Store};

/// The number of the root's start without a data directory is one of so many. Starts are the upper bits of other numbers, such
/// as those of transactions, which have 22 bits for them.
const FIRST_STARTS: u64 = 1 << 20;

/// A server that founds or joins a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewServer {
    /// Its name, unique in the cluster.
    pub name: String,
    /// Its address for other servers.
    pub address: Address,
    /// Its share of each table, relative to the other servers.
    pub weight: u32,
}

impl Cluster {
    /// Founds a cluster, or continues the one that a data directory knows. The store may have tables; it must be that of
    /// server 0.
    ///
    /// # Errors
    /// Those of the disk.
    pub async fn found(
        introduction: NewServer,
        store: Arc<Store>,
        network: Arc<dyn Network>,
        runtime: impl Into<Tasks>,
    ) -> Result<Self, Error> {
        let kept = Root::kept_members(&store)?;
        let start = next_start_of_root(&store).await?;
        let NewServer { name, address, weight } = introduction;
        let (has_returned, mut members) = (kept.is_some(), kept.unwrap_or_default());
        let keeps_data = store.journal().is_some();
        let member = match members.restart(members.leader_of(ROOT), address.as_str(), start) {
            Some(member) if member.name != name => return Err(other_name(&member.name, &name)),
            Some(member) => member,
            None => members.join(&name, address.as_str(), weight, keeps_data, start),
        };
        if let Some(cluster) = store.data_id() {
            keep_identity(&store, cluster, &member.name).await?;
        }
        let begin = Beginning { now: store.snapshot().timestamp(), start, has_returned };
        let network = CountingNetwork::new(network);
        let cluster = Self::connect(&member, members, store, network, runtime.into(), begin);
        if keeps_data && let Some(root) = cluster.root() {
            root.resume()?;
            root.lease_ahead().await?;
            root.keep_members().await?;
        }
        Ok(cluster.begin(begin))
    }

    /// Joins the cluster of the server `first`. `open` opens an empty store for the number that the
    /// root assigns; it has a data directory if `keeps_data`.
    ///
    /// # Errors
    /// [`Error::Unreachable`]; 42710 if the name is taken; 55000 if the other servers keep their data and this one
    /// does not, or the reverse; errors of `open`.
    pub async fn join(
        introduction: NewServer,
        first: &Address,
        keeps_data: bool,
        open: impl FnOnce(sdds::ServerId) -> Result<Arc<Store>, Error>,
        network: Arc<dyn Network>,
        runtime: impl Into<Tasks>,
    ) -> Result<Self, Error> {
        let NewServer { name, address, weight } = introduction;
        let address = address.as_str().to_owned();
        let network = CountingNetwork::new(network);
        let request = |start| RootRequest::Join { start, name, address, weight, keeps_data };
        let joined = admitted(&network, first, request).await?;
        let store = open(joined.member.server)?;
        if let Some(cluster) = joined.cluster {
            keep_identity(&store, cluster, &joined.member.name).await?;
        }
        store.install(&joined.catalog, joined.timestamp)?.wait().await?;
        let begin = Beginning { now: joined.timestamp, start: joined.start, has_returned: false };
        let Admission { member, members, .. } = joined;
        Ok(Self::connect(&member, members, store, network, runtime.into(), begin).begin(begin))
    }

    /// Comes back to a cluster with what a data directory has kept. Waits until the root can be reached.
    ///
    /// # Errors
    /// 55000 if the directory is not of this cluster.
    pub async fn come_back(
        introduction: NewServer,
        first: &Address,
        store: Arc<Store>,
        network: Arc<dyn Network>,
        runtime: impl Into<Tasks>,
    ) -> Result<Self, Error> {
        let known: Option<Identity> = facts::read(&store, facts::IDENTITY)?;
        let Identity { cluster, name } = known.ok_or_else(never_joined)?;
        if name != introduction.name {
            return Err(other_name(&name, &introduction.name));
        }
        let tasks = runtime.into();
        let server = store.server();
        let network = CountingNetwork::new(network);
        let mut has_told = false;
        let joined = loop {
            let (name, address) = (name.clone(), introduction.address.as_str().to_owned());
            let request = |start| RootRequest::Return { start, server, name, address, cluster };
            match admitted(&network, first, request).await {
                Ok(joined) => break joined,
                Err(error) if will_pass(&error) => {
                    if !has_told {
                        tracing::warn!(through = first.as_str(), %error, "waiting for the cluster");
                    }
                    has_told = true;
                    tasks.sleep(TIMEOUTS.retry_pause).await;
                }
                Err(error) => return Err(error),
            }
        };
        let now = joined.timestamp.max(store.snapshot().timestamp());
        let begin = Beginning { now, start: joined.start, has_returned: true };
        let Admission { member, members, .. } = joined;
        Ok(Self::connect(&member, members, store, network, tasks, begin).begin(begin))
    }
}

/// Whether an error ends with another start of the root: it cannot be reached, or its disk has failed.
fn will_pass(error: &Error) -> bool {
    match error {
        Error::Unreachable { .. } => true,
        Error::Remote { sql_state, .. } => sql_state == "58030",
        Error::Failed(failure) => failure.sql_state == "58030",
        _ => false,
    }
}

/// The root's answer to a server that joins or comes back.
struct Admission {
    start: u64,
    member: Member,
    members: Members,
    catalog: Box<Catalog>,
    timestamp: Timestamp,
    cluster: Option<u64>,
}

/// Joins or comes back through a member, with a start of its own each time.
async fn admitted(
    network: &CountingNetwork,
    first: &Address,
    request: impl FnOnce(u64) -> RootRequest,
) -> Result<Admission, Error> {
    let start = match ask_first(network, first, RootRequest::Start).await? {
        RootAnswer::Start(start) => start,
        other => return Err(unexpected(&other)),
    };
    match ask_first(network, first, request(start)).await? {
        RootAnswer::Joined { member, members, catalog, timestamp, cluster } => {
            Ok(Admission { start, member, members, catalog, timestamp, cluster })
        }
        other => Err(unexpected(&other)),
    }
}

/// Asks the root, through a member.
async fn ask_first(
    network: &CountingNetwork,
    first: &Address,
    request: RootRequest,
) -> Reply<RootAnswer> {
    let envelope = encode(&Envelope { from: None, to: None, request: request.into() })?;
    let answer = ask(network, first, envelope, TIMEOUTS.call).await;
    let answer = answer.map_err(|error| Error::from(CallError::of(error, first.as_str())))?;
    decode::<Reply<RootAnswer>>(&answer)?
}

/// The number of a start of the root itself. Without a data directory it begins a cluster with numbers of its own: servers
/// of the last one may still send theirs.
async fn next_start_of_root(store: &Store) -> Result<u64, Error> {
    if store.journal().is_none() {
        return Ok(RandomState::new().hash_one(store.server()) % FIRST_STARTS + 1);
    }
    let start = facts::read::<u64>(store, facts::STARTS)?.unwrap_or(0) + 1;
    facts::write(store, facts::STARTS, &start)?.wait().await?;
    Ok(start)
}

async fn keep_identity(store: &Store, cluster: u64, name: &str) -> Result<(), Error> {
    let identity = Identity { cluster, name: name.to_owned() };
    facts::write(store, facts::IDENTITY, &identity)?.wait().await
}

fn never_joined() -> Error {
    Error::Remote {
        sql_state: "55000".into(),
        message: "the data directory is of a server that has not joined its cluster".into(),
        detail: None,
        hint: Some("It has no data yet: remove it and start again.".into()),
    }
}

fn other_name(kept: &str, given: &str) -> Error {
    Error::Remote {
        sql_state: "55000".into(),
        message: format!("the data directory is of server \"{kept}\", not of \"{given}\""),
        detail: None,
        hint: Some(format!("Start it with --name {kept}.")),
    }
}
