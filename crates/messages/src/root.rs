//! What servers ask the root.

use super::ordinals::ordinals;
use crate::{Member, Members, ServerLoad};
use sdds::balancing::Sizes;
use sdds::{GroupId, ServerId, Timestamp};
use serde::{Deserialize, Serialize};
use store::catalog::{Catalog, Sequence, TableId};
use store::locks::{Mode, Owner, Space};
use store::{MoveSetting, RequiredLocks, TableTotal, TransactionId};

/// Maximum number of commits of one [`RootRequest::Next`].
pub const COMMITS_MAX: u32 = 1 << 12;

/// A request to the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum RootRequest {
    /// A new server to the root, through any member: it wants to join. Late, it is refused after a later start with its name;
    /// without one, the name is taken by a server that is not there, and the next try takes it over. Repeated, the answer is
    /// the same.
    Join {
        /// The number of this start.
        start: u64,
        /// Its name, unique in the cluster.
        name: String,
        /// Its address for other servers.
        address: String,
        /// Its share of each table, relative to the other servers.
        weight: u32,
        /// Whether it keeps its data over a restart.
        keeps_data: bool,
    },
    /// A member that has been started again with its data to the root, through any member. `cluster` is the identity of
    /// the cluster. Late, it is refused after a later start. Repeated, the answer is the same.
    Return {
        /// The number of this start.
        start: u64,
        /// Its number.
        server: ServerId,
        /// Its name.
        name: String,
        /// Its address for other servers.
        address: String,
        /// The identity of the cluster.
        cluster: u64,
    },
    /// A server that stops to the root: whether it has no rows left. Late, it is gone already, or has been started again: then
    /// it stays.
    Leave {
        /// Its number.
        server: ServerId,
        /// The number of its start.
        start: u64,
        /// Whether it has no rows.
        is_empty: bool,
    },
    /// Each server to the root, periodically: what it has, and what it still needs. Late, its figures are old, and never
    /// too new: what is settled or needed only grows. After a later start of the server it is refused, and whoever has sent it
    /// stops.
    Heartbeat(Heartbeat),
    /// A server to the root: the list of members.
    Members,
    /// A server to the root: a timestamp that sees every commit so far.
    Now,
    /// A server to the root: consecutive commit timestamps of transactions that have written there alone. The answer is
    /// the first. Late, they are not used.
    Next {
        /// How many, from 1 to [`COMMITS_MAX`].
        count: u32,
    },
    /// The coordinator to the root: commit a transaction that is prepared on all participants. Late, after a participant
    /// has asked for the outcome, the root has rolled it back for good, and says so.
    Decide {
        /// The transaction.
        transaction: TransactionId,
        /// The prepared groups except the coordinator's.
        others: Vec<GroupId>,
        /// If it changes the catalog: the version of the list of members that take part.
        members: Option<u64>,
        /// The locks at the root that it depends on. A root that was started again since has lost them, and refuses.
        locks: Option<RequiredLocks>,
    },
    /// A participant that has heard nothing, or a coordinator that has lost the answer, to the root: the outcome. Of a
    /// transaction that is not decided, the root decides that it is rolled back. Late, the outcome is the same.
    Outcome {
        /// The transaction.
        transaction: TransactionId,
    },
    /// A server to the root: the next values of a sequence. Late, they are lost.
    SequenceNext {
        /// The sequence.
        sequence: Sequence,
        /// How many values are taken.
        count: u32,
    },
    /// A server to the root: sets a sequence, for a client that waits. Late, it is set late.
    SequenceSet {
        /// The sequence.
        sequence: Sequence,
        /// The last value.
        last: i64,
        /// Whether the last value was returned by `nextval`.
        called: bool,
    },
    /// A server to the root: the last value of a sequence.
    SequenceLast {
        /// The sequence.
        sequence: Sequence,
    },
    /// A server to the root, for a user: the weight of a server; zero drains it. Late, it is set late.
    SetWeight {
        /// The name of the server.
        name: String,
        /// Its share of each table, relative to the others.
        weight: u32,
    },
    /// A server to the root, for a user: a setting of moves. Late, it is changed late.
    ChangeMoves {
        /// The setting.
        change: MoveSetting,
    },
    /// A server to the root: an advisory lock for an owner there. Late, after an end of the lock that was sent later, it is
    /// refused (`protocols::numbers`).
    LockNumber {
        /// Who wants the lock.
        owner: Owner,
        /// The lock.
        number: (Space, i64),
        /// Its mode.
        mode: Mode,
        /// Whether the request waits while another party has it.
        waits: bool,
        /// The number of this request among those of its server.
        sent: u64,
        /// Requests of its server before this number are over.
        settled: u64,
    },
    /// A server to the root: the end of an advisory lock of an owner, or of all. Late, what was asked for later is kept.
    UnlockNumbers {
        /// Who has the lock.
        owner: Owner,
        /// The lock and its mode; `None` for all.
        one: Option<((Space, i64), Mode)>,
        /// As in [`Self::LockNumber`].
        sent: u64,
        /// As in [`Self::LockNumber`].
        settled: u64,
    },
    /// A server that is about to join or to come back to the root, through any member: the number of this start. It is
    /// greater than all that were told before. Late, it is not used.
    Start,
}

ordinals!(RootRequest {
    0 = Join,
    1 = Return,
    2 = Leave,
    3 = Heartbeat,
    4 = Members,
    5 = Now,
    6 = Next,
    7 = Decide,
    8 = Outcome,
    9 = SequenceNext,
    10 = SequenceSet,
    11 = SequenceLast,
    12 = SetWeight,
    13 = ChangeMoves,
    14 = LockNumber,
    15 = UnlockNumbers,
    16 = Start,
});

/// The root's answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum RootAnswer {
    /// To what has no other answer.
    Done,
    /// To [`RootRequest::Join`] and [`RootRequest::Return`].
    Joined {
        /// The server as a member.
        member: Member,
        /// All members.
        members: Members,
        /// Empty for a member that has returned: it has its own.
        catalog: Box<Catalog>,
        /// It sees every commit so far.
        timestamp: Timestamp,
        /// The identity of the cluster; `None` if it keeps no data.
        cluster: Option<u64>,
    },
    /// To [`RootRequest::Heartbeat`].
    Heartbeat(Box<HeartbeatAnswer>),
    /// To [`RootRequest::Members`].
    Members(Members),
    /// To [`RootRequest::Now`], [`RootRequest::Next`], and [`RootRequest::Decide`] without others.
    Timestamp(Timestamp),
    /// To [`RootRequest::Decide`] and [`RootRequest::Outcome`]; `None` if it was rolled back.
    Outcome(Option<Timestamp>),
    /// To requests about sequences.
    Value(Option<i64>),
    /// To [`RootRequest::LockNumber`]: whether the owner has the lock.
    Locked(bool),
    /// To [`RootRequest::Start`].
    Start(u64),
}

ordinals!(RootAnswer {
    0 = Done,
    1 = Joined,
    2 = Heartbeat,
    3 = Members,
    4 = Timestamp,
    5 = Outcome,
    6 = Value,
    7 = Locked,
    8 = Start,
});

/// The periodic report of a server to the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The server.
    pub server: ServerId,
    /// The number of its start.
    pub start: u64,
    /// No snapshot on this server is older, now or later.
    pub oldest: Timestamp,
    /// Transactions that were committed at or before this have ended on this server, durably.
    pub settled: Timestamp,
    /// The version of its list of members.
    pub members: u64,
    /// What it stores.
    pub load: ServerLoad,
    /// Its address for PostgreSQL clients.
    pub pg: Option<String>,
}

/// The root's answer to a heartbeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HeartbeatAnswer {
    /// It sees every commit so far.
    pub now: Timestamp,
    /// Row versions that no snapshot at or after this needs may be removed.
    pub horizon: Timestamp,
    /// The number of the last start of a server that had its rows before: the directory begins anew with each.
    pub generation: u64,
    /// Set if the sender has an older list.
    pub members: Option<Members>,
    /// The size of each table on all servers.
    pub totals: Vec<(TableId, TableTotal)>,
    /// What the sender should move to other servers.
    pub orders: Vec<MoveOrder>,
}

/// A move that the root orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveOrder {
    /// The table.
    pub table: TableId,
    /// The group that is to adopt the keys.
    pub to: GroupId,
    /// Maximum size to move.
    pub size_max: u64,
    /// The measure of size.
    pub sizes: Sizes,
    /// Why, for `pando.moves`.
    pub reason: String,
}
