//! One server of a cluster: what it knows of the others, and how it asks them.

use crate::files::{File, Files, Mail};
use crate::floors::Floors;
use crate::members::{Member, Members};
use crate::message::{Answer, Reply, Request, decode, encode};
use crate::moving::Moves;
use crate::net::{Address, NetError, Network, ask};
use crate::oracle::Oracle;
use crate::participants::Participants;
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use sdds::directory::Message;
use sdds::{GroupId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::catalog::{Table, TableId};
use store::{Bundles, Error, Snapshot, Store, TransactionId};

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
    pub(crate) network: Arc<dyn Network>,
    /// Where this server's own work goes on, apart from its clients' and its queries'.
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) bundles: OnceLock<Arc<dyn Bundles>>,
    pub(crate) members: RwLock<Members>,
    pub(crate) files: Files,
    pub(crate) floors: Mutex<Floors>,
    pub(crate) participants: Participants,
    /// Transactions that are coordinated here, and where else they have written.
    pub(crate) joint: Mutex<BTreeMap<TransactionId, BTreeSet<GroupId>>>,
    pub(crate) moves: Moves,
    pub(crate) root: Option<crate::root::Root>,
    next_transaction: AtomicU64,
}

impl Cluster {
    pub(crate) fn new(
        member: &Member,
        members: Members,
        store: Arc<Store>,
        network: Arc<dyn Network>,
        runtime: tokio::runtime::Handle,
        now: Timestamp,
    ) -> Self {
        let root = (member.group == ROOT).then(|| crate::root::Root::new(Oracle::new(now)));
        Self(Arc::new(Inner {
            here: member.group,
            name: member.name.clone(),
            store,
            network,
            runtime,
            bundles: OnceLock::new(),
            members: RwLock::new(members),
            files: Files::new(member.group, ROOT),
            floors: Mutex::new(Floors::new(now)),
            participants: Participants::default(),
            joint: Mutex::default(),
            moves: Moves::default(),
            root,
            next_transaction: AtomicU64::new(1),
        }))
    }

    /// Who runs the bundles that other servers ship here. Only the first call counts.
    pub fn set_bundles(&self, bundles: Arc<dyn Bundles>) {
        let _ = self.0.bundles.set(bundles);
    }

    /// Who is part of the cluster, as far as is known here.
    pub fn members(&self) -> Members {
        self.0.members.read().clone()
    }

    /// This server's tables.
    pub fn store(&self) -> &Arc<Store> {
        &self.0.store
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
        let missing = || Error::RelationMissing { relation: format!("with id {}", table.0) };
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
                reason: "it has been given up, and its rows are lost".into(),
            }),
            None => Err(Error::Unreachable {
                server: group.to_string(),
                reason: "nobody here knows this server".into(),
            }),
        }
    }

    /// Whether the root has given a server up.
    pub(crate) fn is_lost(&self, group: GroupId) -> bool {
        self.members.read().get(group).is_none_or(|member| member.is_lost)
    }

    /// Asks a server, which may be this one's neighbour or the root, and waits for its answer.
    pub(crate) async fn ask(&self, to: GroupId, request: &Request) -> Result<Answer, Asked> {
        let (address, name) = self.address(to).map_err(Asked::Answered)?;
        let bytes = encode(request).map_err(Asked::Answered)?;
        let answer = match ask(&*self.network, &address, bytes, DEADLINE).await {
            Ok(answer) => answer,
            Err(error) => return Err(Asked::of(error, &name)),
        };
        decode::<Reply>(&answer).map_err(Asked::Answered)?.map_err(Asked::Answered)
    }

    /// Asks the root.
    pub(crate) async fn ask_root(&self, request: &Request) -> Result<Answer, Asked> {
        match &self.root {
            Some(root) => root.answer(self, request).await.map_err(Asked::Answered),
            None => self.ask(ROOT, request).await,
        }
    }

    /// A timestamp that sees every commit so far.
    async fn now(&self) -> Result<Timestamp, Error> {
        match self.ask_root(&Request::Now).await? {
            Answer::Timestamp(now) => Ok(now),
            other => Err(unexpected(&other)),
        }
    }

    /// A snapshot of what is committed on all servers.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, Error> {
        let asked = Asking { floors: &self.floors, floor: self.floors.lock().ask() };
        let now = self.now().await?;
        let snapshot = self.store.snapshot_at(now).await;
        self.floors.lock().learn(now);
        drop(asked);
        Ok(snapshot)
    }

    /// Sends messages of the directory, in a task of their own.
    pub(crate) fn post(self: &Arc<Self>, file: &Arc<File>, mail: Mail) {
        for (to, message) in mail {
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
                Err(Asked::Lost(_)) if matches!(message, Message::Adopt { .. }) => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(1));
                }
                Err(_) => {
                    let mail = file.undelivered(to, message);
                    Box::pin(async { self.post(file, mail) }).await;
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
        let error = Error::Unreachable { server: server.to_owned(), reason };
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
    floors: &'a Mutex<Floors>,
    floor: Timestamp,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.floors.lock().taken(self.floor);
    }
}

/// An answer to another question.
pub(crate) fn unexpected(answer: &Answer) -> Error {
    let text = format!("{answer:?}");
    crate::message::garbled(&format!("{} was not asked for", &text[..text.len().min(40)]))
}

/// What is written as the answer to a request.
pub(crate) fn written(reply: &Reply) -> Bytes {
    match encode(reply) {
        Ok(bytes) => bytes,
        Err(error) => encode(&Reply::Err(error)).unwrap_or_default(),
    }
}
