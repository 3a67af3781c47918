//! One server of a cluster: what it knows of the others, and how it asks them.

use crate::coordinated::CoordinatedTransactions;
use crate::files::{File, Files, Outbox};
use crate::heartbeat;
use crate::low_watermark::LowWatermark;
use crate::members::{Member, Members};
use crate::message::{Answer, Envelope, Reply, Request, decode, encode};
use crate::moving::Moves;
use crate::net::{Address, NetError, ask};
use crate::oracle::Oracle;
use crate::participants::Participants;
use crate::timestamps::Timestamps;
use crate::traffic::Counted;
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use sdds::directory::Message;
use sdds::{GroupId, Timestamp};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use store::catalog::{Table, TableId};
use store::{Error, Fragments, Snapshot, Store, TableTotal, TransactionId};
use tokio_util::sync::CancellationToken;

/// The group that leads the cluster: membership, timestamps, sequences. It is the first server's.
pub(crate) const ROOT: GroupId = GroupId(0);

/// A server that has not answered by then cannot be reached.
pub(crate) const DEADLINE: Duration = Duration::from_secs(5);

/// A server among others. A clone is another handle on the same one.
#[derive(Debug, Clone)]
pub struct Cluster(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) here: GroupId,
    pub(crate) name: String,
    pub(crate) store: Arc<Store>,
    pub(crate) network: Counted,
    /// Where this server's own work goes on, apart from its clients' and its queries'.
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) fragments: OnceLock<Arc<dyn Fragments>>,
    /// Where PostgreSQL clients call this server.
    pub(crate) pg: OnceLock<String>,
    pub(crate) members: RwLock<Members>,
    pub(crate) files: Files,
    pub(crate) low_watermark: Mutex<LowWatermark>,
    pub(crate) participants: Participants,
    /// Transactions that are coordinated here, and where else they have written.
    pub(crate) coordinated: CoordinatedTransactions,
    pub(crate) moves: Moves,
    /// When it was last averaged how often buckets are accessed.
    pub(crate) accesses_averaged: Mutex<Instant>,
    pub(crate) root: Option<crate::root::Root>,
    /// The root has said that it has given this server up.
    pub(crate) is_evicted: AtomicBool,
    /// What only a snapshot before this sees may be gone, here as everywhere.
    pub(crate) horizon: AtomicU64,
    /// What each table has on all servers, as the root has said last.
    pub(crate) totals: RwLock<BTreeMap<TableId, TableTotal>>,
    pub(crate) stopped: CancellationToken,
    snapshot_times: Timestamps,
    commit_times: Timestamps,
    next_transaction: AtomicU64,
}

impl Cluster {
    pub(crate) fn new(
        member: &Member,
        members: Members,
        store: Arc<Store>,
        network: Counted,
        runtime: tokio::runtime::Handle,
        now: Timestamp,
    ) -> Self {
        let oldest = store.oldest_snapshot().map_or(now, |oldest| oldest.min(now));
        let root = || crate::root::Root::new(ROOT, Oracle::new(now), oldest);
        let root = (member.group == ROOT).then(root);
        Self(Arc::new(Inner {
            here: member.group,
            name: member.name.clone(),
            store,
            network,
            runtime,
            fragments: OnceLock::new(),
            pg: OnceLock::new(),
            members: RwLock::new(members),
            files: Files::new(member.group, ROOT),
            low_watermark: Mutex::new(LowWatermark::new(now)),
            participants: Participants::default(),
            coordinated: CoordinatedTransactions::default(),
            moves: Moves::default(),
            accesses_averaged: Mutex::new(Instant::now()),
            root,
            is_evicted: AtomicBool::new(false),
            horizon: AtomicU64::new(0),
            totals: RwLock::default(),
            stopped: CancellationToken::new(),
            snapshot_times: Timestamps::of_snapshots(),
            commit_times: Timestamps::of_commits(),
            next_transaction: AtomicU64::new(1),
        }))
    }

    /// Who runs the fragments that other servers ship here. Only the first call counts.
    pub fn set_fragments(&self, fragments: Arc<dyn Fragments>) {
        let _ = self.0.fragments.set(fragments);
    }

    /// Where PostgreSQL clients call this server: `host:port`. The others hear of it, and tell clients that ask owners
    /// themselves. Only the first call counts.
    pub fn set_pg(&self, address: String) {
        let _ = self.0.pg.set(address);
    }

    /// Who is part of the cluster, as far as is known here.
    pub fn members(&self) -> Members {
        self.0.members.read().clone()
    }

    /// This server's tables.
    pub fn store(&self) -> &Arc<Store> {
        &self.0.store
    }

    /// Ends this server's part: it tells the root nothing more, answers nobody, and gives nothing away. What its clients
    /// still run fails as if the others could not be reached. The others give it up after a while.
    ///
    /// A server that is to leave without loss is emptied before ([`Self::set_weight`]). A cluster and its store hold one
    /// another: without this, what was begun goes on when the last handle is gone.
    pub fn stop(&self) {
        self.0.stopped.cancel();
    }

    /// Says good-bye, so that the others need not find out, and [stops](Self::stop). What is still here is lost to them.
    pub async fn leave(&self) {
        let inner = &self.0;
        if inner.root.is_none() {
            match tokio::time::timeout(DEADLINE, inner.say_good_bye()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the root was not told that this server leaves")
                }
                Err(_) => tracing::warn!("the root was not told in time that this server leaves"),
            }
        }
        self.stop();
    }

    /// The group that this server leads.
    pub fn here(&self) -> GroupId {
        self.0.here
    }
}

impl Inner {
    pub(crate) fn transaction_id(&self) -> TransactionId {
        let number = self.next_transaction.fetch_add(1, Ordering::Relaxed);
        TransactionId { coordinator: self.here, number }
    }

    /// The file of a table.
    pub(crate) fn file(&self, table: &Table) -> Arc<File> {
        let groups: Vec<GroupId> =
            self.members.read().list.iter().map(|member| member.group).collect();
        self.files.of(table, &groups)
    }

    /// The file of a table by its id.
    pub(crate) fn file_by_id(&self, table: TableId) -> Result<Arc<File>, Error> {
        let missing = || store::catalog::Error::missing(table.relation());
        let catalog = self.store.catalog();
        let definition = catalog.table_by_id(table).ok_or_else(missing)?;
        Ok(self.file(definition))
    }

    /// Where a group's server is called, and its name.
    pub(crate) fn address(&self, group: GroupId) -> Result<(Address, String), Error> {
        let members = self.members.read();
        match members.get(group) {
            Some(member) if !member.is_lost => {
                Ok((Address::new(member.address.clone()), member.name.clone()))
            }
            Some(member) => Err(Error::Unreachable {
                server: member.name.clone(),
                reason: match member.has_left {
                    true => "it has left the cluster".into(),
                    false => "it has been given up, and its rows are lost".into(),
                },
                is_lost: !member.has_left,
                keys: String::new(),
            }),
            None => Err(Error::unreachable(group.to_string(), "nobody here knows this server")),
        }
    }

    /// The same, after a look at the root's list where this server has not heard of the group yet.
    pub(crate) async fn find(&self, group: GroupId) -> Result<(Address, String), Error> {
        if self.members.read().get(group).is_none() {
            self.refresh_members().await;
        }
        self.address(group)
    }

    /// Looks at the root's list of members, if the root can be reached.
    pub(crate) async fn refresh_members(&self) {
        if self.root.is_some() {
            return;
        }
        if let Ok(Answer::Members(members)) = Box::pin(self.ask(ROOT, &Request::Members)).await {
            self.learn_members(members);
        }
    }

    /// Takes over a newer list of members.
    pub(crate) fn learn_members(&self, members: Members) {
        let mut known = self.members.write();
        if known.version < members.version {
            *known = members;
        }
    }

    /// Whether the root has given a server up.
    pub(crate) fn is_lost(&self, group: GroupId) -> bool {
        self.members.read().get(group).is_some_and(|member| member.is_lost)
    }

    /// Whether nothing is to be looked for at a server any more.
    pub(crate) fn is_gone(&self, group: GroupId) -> bool {
        self.members.read().get(group).is_some_and(|member| member.is_lost || member.has_left)
    }

    /// Whether a server has left, and nothing was lost with it.
    pub(crate) fn has_left(&self, group: GroupId) -> bool {
        self.members.read().get(group).is_some_and(|member| member.is_lost && member.has_left)
    }

    /// A request as it is written to a group.
    pub(crate) fn envelope(&self, to: GroupId, request: Request) -> Result<Bytes, Error> {
        encode(&Envelope { from: Some(self.here), to: Some(to), request })
    }

    /// Asks a server, which may be this one's neighbour or the root, and waits for its answer.
    pub(crate) async fn ask(&self, to: GroupId, request: &Request) -> Result<Answer, Asked> {
        self.ask_within(to, request, DEADLINE).await
    }

    /// The same, for as long as that.
    pub(crate) async fn ask_within(
        &self,
        to: GroupId,
        request: &Request,
        deadline: Duration,
    ) -> Result<Answer, Asked> {
        if self.stopped.is_cancelled() {
            return Err(Asked::Answered(stopped(&self.name)));
        }
        let (address, name) = self.find(to).await.map_err(Asked::Answered)?;
        let bytes = self.envelope(to, request.clone()).map_err(Asked::Answered)?;
        let answer = match ask(&self.network, &address, bytes, deadline).await {
            Ok(answer) => answer,
            Err(error) => return Err(Asked::of(error, &name)),
        };
        // What cannot be read was an answer all the same: something may have happened.
        decode::<Reply>(&answer).map_err(Asked::Lost)?.map_err(Asked::Answered)
    }

    /// Asks the root.
    pub(crate) async fn ask_root(&self, request: &Request) -> Result<Answer, Asked> {
        match &self.root {
            Some(root) => root.answer(self, request).await.map_err(Asked::Answered),
            None => self.ask(ROOT, request).await,
        }
    }

    /// A timestamp that sees every commit so far.
    async fn now(self: &Arc<Self>) -> Result<Timestamp, Error> {
        match &self.root {
            Some(root) => Ok(root.now()),
            None => Ok(self.snapshot_times.ask(self).await?.0),
        }
    }

    /// A timestamp for the commit of a transaction that has written here alone: nobody else has to be asked about it.
    pub(crate) async fn next(self: &Arc<Self>) -> Result<Timestamp, Error> {
        match &self.root {
            Some(root) => Ok(root.next()),
            None => {
                let (first, place) = self.commit_times.ask(self).await?;
                Ok(Timestamp(first.0 + u64::from(place)))
            }
        }
    }

    /// A snapshot of what is committed on all servers.
    pub(crate) async fn snapshot(self: &Arc<Self>) -> Result<Snapshot, Error> {
        if self.is_evicted.load(Ordering::Relaxed) {
            return Err(crate::root::evicted(self.here));
        }
        let asked =
            Asking { low_watermark: &self.low_watermark, asked: self.low_watermark.lock().ask() };
        let now = self.now().await?;
        let snapshot = self.store.snapshot_at(now).await;
        self.low_watermark.lock().learn(now);
        drop(asked);
        Ok(snapshot)
    }

    /// Gives the directory's pages to the root, and tells it that this server goes.
    async fn say_good_bye(self: &Arc<Self>) -> Result<(), Error> {
        for file in self.files.all() {
            for (to, message) in file.give_pages(ROOT) {
                self.deliver(&file, to, message).await;
            }
        }
        let is_empty = heartbeat::load(self).tables.is_empty();
        self.ask(ROOT, &Request::Leave { group: self.here, is_empty }).await?;
        Ok(())
    }

    /// Sends messages of the directory, in a task of their own.
    pub(crate) fn send_all(self: &Arc<Self>, file: &Arc<File>, outbox: Outbox) {
        for (to, message) in outbox {
            let (me, file) = (Arc::clone(self), Arc::clone(file));
            self.runtime.spawn(async move { me.deliver(&file, to, message).await });
        }
    }

    async fn deliver(self: &Arc<Self>, file: &Arc<File>, to: GroupId, message: Message<()>) {
        let request = Request::Directory { table: file.table(), message: message.clone() };
        let mut pause = Duration::from_millis(10);
        loop {
            match self.ask(to, &request).await {
                Ok(_) => return,
                // A page that may have arrived must not be taken back: the other one may have it.
                Err(Asked::Lost(_))
                    if matches!(message, Message::Adopt { .. }) && !self.stopped.is_cancelled() =>
                {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
                Err(_) => {
                    let outbox = file.undelivered(to, message);
                    Box::pin(async { self.send_all(file, outbox) }).await;
                    return;
                }
            }
        }
    }
}

/// What came of asking, other than an answer.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The other server refused, or nothing was sent: nothing has happened.
    Answered(Error),
    /// Whether it has done what was asked is not known.
    Lost(Error),
}

impl Asked {
    pub(crate) fn of(error: NetError, server: &str) -> Self {
        let undelivered = error.is_undelivered();
        let reason = match error {
            NetError::Unreachable { reason, .. }
            | NetError::Lost { reason, .. }
            | NetError::Refused { reason, .. }
            | NetError::Failed { reason, .. } => reason,
        };
        let error = Error::unreachable(server, reason);
        if undelivered { Self::Answered(error) } else { Self::Lost(error) }
    }
}

impl From<Asked> for Error {
    fn from(asked: Asked) -> Self {
        match asked {
            Asked::Answered(error) | Asked::Lost(error) => error,
        }
    }
}

/// A snapshot that has been asked for.
struct Asking<'a> {
    low_watermark: &'a Mutex<LowWatermark>,
    asked: Timestamp,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.low_watermark.lock().taken(self.asked);
    }
}

/// An answer to another question.
pub(crate) fn unexpected(answer: &Answer) -> Error {
    let text: String = format!("{answer:?}").chars().take(40).collect();
    crate::message::garbled(&format!("{text} was not asked for"))
}

/// Why a server that has stopped neither asks nor answers.
pub(crate) fn stopped(name: &str) -> Error {
    Error::unreachable(name, "it has stopped")
}

/// What is written as the answer to a request.
pub(crate) fn written(reply: &Reply) -> Bytes {
    match encode(reply) {
        Ok(bytes) => bytes,
        Err(error) => encode(&Reply::Err(error)).unwrap_or_default(),
    }
}
