//! Requests between servers.

use super::blob::Blob;
use crate::membership::ServerLoad;
use sdds::directory::Message;
use sdds::{GroupId, Key, KeyRange, MoveId, ServerId, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};
use store::catalog::{CatalogChange, Sequence, TableId};
use store::locks::{Mode, Owner, Party, Space};
use store::{ExchangeId, MoveSetting, Reader, RequiredLocks, RowLocks, TransactionId};

/// Maximum number of commits of one [`Request::Next`].
pub(crate) const COMMITS_MAX: u32 = 1 << 12;

/// A request. The order of the variants is part of the encoding.
///
/// The network delivers a request at most once, and says of an error whether the request may have been executed. It may
/// arrive after later ones, and long after its sender has ended the call. So each variant says who sends it to whom and why,
/// and what a late receiver does, unless it only reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// A new server to the root, through any member: it wants to join. Late or repeated, the name is taken by a server
    /// that is not there, at the same address: the next try takes it over.
    Join { name: String, address: String, weight: u32, keeps_data: bool },
    /// Each server to the root, periodically: what it has, and what it still needs. Late, its figures are old, and never
    /// too new: what is settled or needed only grows.
    Heartbeat(Heartbeat),
    /// A server to the root: a timestamp that sees every commit so far.
    Now,
    /// The coordinator to the root: commit a transaction that is prepared on all participants. Late, after a participant
    /// has asked for the outcome, the root has rolled it back for good, and says so.
    Decide {
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
    Outcome { transaction: TransactionId },
    /// A server to the root: the list of members.
    Members,
    /// A server to the root: the next values of a sequence. Late, they are lost.
    SequenceNext { sequence: Sequence, count: u32 },
    /// A server to the root: sets a sequence, for a client that waits. Late, it is set late.
    SequenceSet { sequence: Sequence, last: i64, called: bool },
    /// A server to the root: the last value of a sequence.
    SequenceLast { sequence: Sequence },
    /// A server to the root, for a user: the weight of a server; zero drains it. Late, it is set late.
    SetWeight { name: String, weight: u32 },
    /// A server to the root, for a user: a setting of moves. Late, it is changed late.
    ChangeMoves { change: MoveSetting },
    /// A server that stops to the root: whether it has no rows left. Late, it is gone already.
    Leave { server: ServerId, is_empty: bool },
    /// To any server: its state.
    Report,
    /// To any server: its rows of a system table that has rows of all servers, as a stream of
    /// batches.
    Describe { name: String },
    /// To an owner: rows by key at a snapshot.
    Get { reader: WireReader, target: Target, keys: Vec<Key>, columns: Vec<u32> },
    /// The coordinator to an owner: rows to stage. Late, the transaction has ended there, or has rolled back to a savepoint
    /// before its step: it is refused (40001).
    Write {
        reader: WireReader,
        target: Target,
        write: WireWrite,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// The coordinator to an owner: a DML pushdown to execute on its rows. Late as [`Self::Write`].
    DmlPushdown {
        reader: WireReader,
        target: Target,
        pushdown: Blob,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// To any server: runs a plan fragment. The answers are batches and adjustments.
    Run { reader: WireReader, hops: u32, fragment: Blob },
    /// The coordinator to a participant: roll back to a savepoint, and refuse writes of steps before. Late, the transaction
    /// cannot commit: its coordinator has had no answer.
    RollbackTo { transaction: TransactionId, savepoint: u64, step: u64 },
    /// The coordinator to a participant: roll back. Late, the part has ended, and the same outcome was learned.
    RollBack { transaction: TransactionId },
    /// The coordinator to a participant: prepare to commit. Late, the part may be prepared of a transaction that is
    /// rolled back already; it asks the root.
    Prepare {
        reader: WireReader,
        /// The commit timestamp will be greater.
        newest: Timestamp,
    },
    /// The coordinator to a participant: commit, as the root has decided. Late, the part has ended, and the same outcome
    /// was learned.
    Commit { transaction: TransactionId, timestamp: Timestamp },
    /// A participant with an open part to the coordinator: whether the transaction runs. The answer ends no part that was
    /// prepared meanwhile: that asks the root.
    IsRunning { transaction: TransactionId },
    /// To any server: the parts of a range that it owns.
    ListOwned { table: TableId, range: KeyRange },
    /// To any server: the owners of a range.
    FindOwners { table: TableId, range: KeyRange, hops: u32 },
    /// A message of the directory, which is described there. Late, its epoch is old.
    Directory { table: TableId, message: Message<()> },
    /// The source of a move to its destination: it wants to give keys away. The answer is the number of the move there. Late,
    /// the source has aborted the move, and the destination discards it after a silence.
    MoveIn { of: MoveId, table: TableId, range: KeyRange },
    /// The source to the destination: a piece of the rows. The last piece of a round is marked. Late, the move is
    /// discarded, and the number unknown.
    MovePiece { number: u64, piece: Blob, ends_round: bool },
    /// The source, which has frozen the keys, to the destination: own them, with the last piece, if any. `accesses` is the
    /// access rate per second at the source, and `seen` the newest timestamp there. Versions that only snapshots before
    /// `complete_from` need may be gone. Late, after the source has asked for
    /// the outcome, the move is discarded, and it is refused.
    MoveAdopt {
        number: u64,
        rest: Option<Blob>,
        adopt: Message<()>,
        accesses: u64,
        seen: Timestamp,
        complete_from: Timestamp,
    },
    /// The source to the destination: it has aborted the move. Late, the move is discarded already.
    MoveDrop { number: u64 },
    /// The source, which has lost the answer, or has been started again, to the destination: whether it has adopted the
    /// keys. If not, it discards the move before it answers. Late, the answer is the same.
    MoveOutcome { of: MoveId },
    /// To a producer of an exchange: one part of its rows, as a stream of batches. Late, the exchange is over.
    Take { exchange: ExchangeId, part: u32 },
    /// A server to the root: consecutive commit timestamps of transactions that have written there alone. The answer is
    /// the first. Late, they are not used.
    Next { count: u32 },
    /// To an owner: the newest version of a row.
    Newest { target: Target, key: Key, columns: Vec<u32> },
    /// To an owner: a row operation, which is a transaction of its own. Late, it is executed, and its client has been told
    /// that the outcome is unknown.
    RowOperation { target: Target, key: Key, operation: Blob },
    /// A member that has been started again with its data to the root, through any member. `cluster` is the identity of
    /// the cluster. Late or repeated, it counts as one more start.
    Return { server: ServerId, name: String, address: String, cluster: u64 },
    /// To an owner: the keys of the rows with the first entries of a range of an index.
    Entries { reader: WireReader, target: Target, range: KeyRange, limit: u32 },
    /// To any server: notifications of committed transactions, for the sessions that listen there. The answer is nothing; if
    /// it is lost, so are they.
    Publish { notifications: Blob },
    /// To an owner: rows to lock for a query.
    Lock { reader: WireReader, target: Target, rows: RowLocks, step: u64 },
    /// To any server: which parties wait for which.
    Waits,
    /// A server to the root: an advisory lock for an owner there. Late, the owner has it until its server releases all of
    /// its locks.
    LockNumber { owner: Owner, number: (Space, i64), mode: Mode, waits: bool },
    /// A server to the root: the end of an advisory lock of an owner, or of all. Late, it is released late.
    UnlockNumbers { owner: Owner, one: Option<((Space, i64), Mode)> },
    /// To any server: which ranges of a table it owns, unless rows of it have changed since a timestamp. It first waits for
    /// what may commit until `now`.
    Unchanged { table: TableId, since: Timestamp, now: Timestamp },
}

impl Request {
    /// The name of the variant, for logs and tests.
    pub(crate) fn name(&self) -> String {
        let mut name = FirstWord::default();
        // It ends after the first word, which it takes for an error.
        let _ = write!(name, "{self:?}");
        name.0
    }
}

/// The first word of a text that is written to it.
#[derive(Debug, Default)]
struct FirstWord(String);

impl fmt::Write for FirstWord {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend(text.chars().take_while(|c| c.is_alphanumeric()));
        if text.chars().all(char::is_alphanumeric) { Ok(()) } else { Err(fmt::Error) }
    }
}

/// The table of a request, and the hops so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) table: TableId,
    /// The version of the coordinator's definition of the table.
    pub(crate) version: u32,
    /// The number of servers that the request has reached, including the receiver.
    pub(crate) hops: u32,
}

/// An encoded [`Reader`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WireReader {
    pub(crate) timestamp: Timestamp,
    pub(crate) transaction: Option<TransactionId>,
    pub(crate) changes: Vec<CatalogChange>,
    pub(crate) savepoint: u64,
    /// Whether the transaction has certainly written on the receiver. A receiver that does not know that has been
    /// started again, and has lost what was written.
    pub(crate) has_written: bool,
    /// The party for which writes lock rows.
    pub(crate) locks: Option<Party>,
    /// Whether writes wait for locks of others, instead of failing.
    pub(crate) waits: bool,
}

impl WireReader {
    pub(crate) fn new(reader: &Reader, has_written: bool) -> Self {
        Self {
            has_written,
            timestamp: reader.timestamp,
            transaction: reader.transaction,
            changes: reader.changes.to_vec(),
            savepoint: reader.savepoint,
            locks: reader.locks,
            waits: reader.waits,
        }
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader {
            timestamp: self.timestamp,
            transaction: self.transaction,
            changes: self.changes.as_slice().into(),
            savepoint: self.savepoint,
            locks: self.locks,
            waits: self.waits,
        }
    }
}

/// A [`store::Write`] with encoded rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum WireWrite {
    Insert(Blob),
    Load(Blob),
    Upsert(Blob),
    Delete(Vec<Key>),
    Require(Vec<Key>),
}

/// The periodic report of a server to the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    pub(crate) server: ServerId,
    /// No snapshot on this server is older, now or later.
    pub(crate) oldest: Timestamp,
    /// Transactions that were committed at or before this have ended on this server, durably.
    pub(crate) settled: Timestamp,
    /// The version of its list of members.
    pub(crate) members: u64,
    pub(crate) load: ServerLoad,
    /// Its address for PostgreSQL clients.
    pub(crate) pg: Option<String>,
}
