//! Requests between servers.

use super::blob::Blob;
use crate::membership::ServerLoad;
use sdds::directory::Message;
use sdds::{GroupId, Key, KeyRange, MoveId, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};
use store::catalog::{CatalogChange, Sequence, TableId};
use store::locks::Party;
use store::{ExchangeId, MoveSetting, Reader, RowLocks, TransactionId};

/// Maximum number of commits of one [`Request::Next`].
pub(crate) const COMMITS_MAX: u32 = 1 << 12;

/// A request. The order of the variants is part of the encoding.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// To the root: adds a server to the cluster.
    Join { name: String, address: String, weight: u32, keeps_data: bool },
    /// To the root: the periodic report of a server.
    Heartbeat(Heartbeat),
    /// To the root: asks for a timestamp that sees every commit so far.
    Now,
    /// To the root: commits a transaction that is prepared on all participants.
    Decide {
        transaction: TransactionId,
        /// The prepared groups except the coordinator's.
        others: Vec<GroupId>,
        /// If it changes the catalog: the version of the list of members that take part.
        members: Option<u64>,
    },
    /// To the root: the outcome of a transaction that is prepared on the sender.
    Outcome { transaction: TransactionId },
    /// To the root: the list of members.
    Members,
    /// To the root: the next values of a sequence.
    SequenceNext { sequence: Sequence, count: u32 },
    /// To the root: sets a sequence.
    SequenceSet { sequence: Sequence, last: i64, called: bool },
    /// To the root: the last value of a sequence.
    SequenceLast { sequence: Sequence },
    /// To the root: sets the weight of a server; zero drains it.
    SetWeight { name: String, weight: u32 },
    /// To the root: changes a setting of moves.
    ChangeMoves { change: MoveSetting },
    /// To the root: the group's server leaves, and whether it has no rows left.
    Leave { group: GroupId, is_empty: bool },
    /// To any server: its state.
    Report,
    /// To any server: its rows of a system table that has rows of all servers, as a stream of
    /// batches.
    Describe { name: String },
    /// To an owner: rows by key at a snapshot.
    Get { reader: WireReader, target: Target, keys: Vec<Key>, columns: Vec<u32> },
    /// To an owner: rows to stage.
    Write {
        reader: WireReader,
        target: Target,
        write: WireWrite,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// To an owner: a DML pushdown to execute on its rows.
    DmlPushdown {
        reader: WireReader,
        target: Target,
        pushdown: Blob,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// To any server: runs a plan fragment. The answers are batches and adjustments.
    Run { reader: WireReader, hops: u32, fragment: Blob },
    /// To a participant: rolls back to a savepoint.
    RollbackTo { transaction: TransactionId, savepoint: u64, step: u64 },
    /// To a participant: rolls back.
    RollBack { transaction: TransactionId },
    /// To a participant: prepares to commit.
    Prepare {
        reader: WireReader,
        /// The commit timestamp will be greater.
        newest: Timestamp,
    },
    /// To a participant: commits.
    Commit { transaction: TransactionId, timestamp: Timestamp },
    /// To a coordinator: whether a transaction is still running.
    IsRunning { transaction: TransactionId },
    /// To any server: the parts of a range that it owns.
    ListOwned { table: TableId, range: KeyRange },
    /// To any server: the owners of a range.
    FindOwners { table: TableId, range: KeyRange, hops: u32 },
    /// A message of the directory.
    Directory { table: TableId, message: Message<()> },
    /// To the destination of a move: begins it. The answer is its number.
    MoveIn { of: MoveId, table: TableId, range: KeyRange },
    /// A piece of the rows. The last piece of a round is marked.
    MovePiece { number: u64, piece: Blob, ends_round: bool },
    /// The last piece, if any: the destination owns the range from now on. `accesses` is the access
    /// rate per second at the source.
    MoveAdopt { number: u64, rest: Option<Blob>, adopt: Message<()>, accesses: u64 },
    /// Discards a move.
    MoveDrop { number: u64 },
    /// Whether a move was adopted, for a source that lost the answer. If not, the move is
    /// discarded.
    MoveOutcome { of: MoveId, number: u64 },
    /// To a producer of an exchange: one part of its rows, as a stream of batches.
    Take { exchange: ExchangeId, part: u32 },
    /// To the root: consecutive commit timestamps of transactions that have written on the sender
    /// alone. The answer is the first.
    Next { count: u32 },
    /// To an owner: the newest version of a row.
    Newest { target: Target, key: Key, columns: Vec<u32> },
    /// To an owner: a row operation, which is a transaction of its own.
    RowOperation { target: Target, key: Key, operation: Blob },
    /// To the root: a member has been started again with its data. `cluster` is the identity of the cluster.
    Return { group: GroupId, name: String, address: String, cluster: u64 },
    /// To an owner: the keys of the rows with the first entries of a range of an index.
    Entries { reader: WireReader, target: Target, range: KeyRange, limit: u32 },
    /// To an owner: rows to lock for a query.
    Lock { reader: WireReader, target: Target, rows: RowLocks, step: u64 },
    /// To any server: which parties wait for which.
    Waits,
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
}

/// The periodic report of a server to the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    pub(crate) group: GroupId,
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
