//! Requests between servers.

use super::blob::Blob;
use crate::membership::ServerLoad;
use sdds::directory::Message;
use sdds::{GroupId, Key, KeyRange, Timestamp};
use serde::{Deserialize, Serialize};
use store::catalog::{CatalogChange, Sequence, TableId};
use store::{ExchangeId, MoveSetting, Reader, TransactionId};

/// Maximum number of commits of one [`Request::Next`].
pub(crate) const COMMITS_MAX: u32 = 1 << 12;

/// A request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Request {
    /// To the root: take me in.
    Join { name: String, address: String, weight: u32 },
    /// To the root, again and again.
    Heartbeat(Heartbeat),
    /// To the root: a timestamp that sees every commit so far.
    Now,
    /// To the root: this transaction is prepared wherever it has written; commit it.
    Decide {
        transaction: TransactionId,
        /// The groups beside the coordinator's that are prepared.
        others: Vec<GroupId>,
        /// Where it changes the catalog: the members that its coordinator has made take part.
        members: Option<u64>,
    },
    /// To the root: what became of a transaction that is prepared here and whose coordinator is silent.
    Outcome { transaction: TransactionId },
    /// To the root: who is part of the cluster?
    Members,
    /// To the root: values of a sequence.
    SequenceNext { sequence: Sequence, count: u32 },
    /// To the root: a sequence stands elsewhere.
    SequenceSet { sequence: Sequence, last: i64, called: bool },
    /// To the root: where a sequence stands.
    SequenceLast { sequence: Sequence },
    /// To the root: this server shall have so large a share; zero empties it.
    SetWeight { name: String, weight: u32 },
    /// To the root: rows shall move in another way.
    ChangeMoves { change: MoveSetting },
    /// To the root: the group's server ends, and whether nothing is lost with it.
    Leave { group: GroupId, is_empty: bool },
    /// To any server: what it holds and does.
    Report,
    /// To any server: its rows of a table that has rows of all servers, as those of a fragment.
    Describe { name: String },
    /// To an owner: rows by key.
    Get { reader: WireReader, target: Target, keys: Vec<Key>, columns: Vec<u32> },
    /// To an owner: rows to write.
    Write {
        reader: WireReader,
        target: Target,
        write: WireWrite,
        /// How often its transaction went back to a savepoint before.
        step: u64,
    },
    /// To an owner: an pushdown, to be carried out on its rows.
    DmlPushdown {
        reader: WireReader,
        target: Target,
        pushdown: Blob,
        /// How often its transaction went back to a savepoint before.
        step: u64,
    },
    /// To a server: a fragment to run; batches come back, and then a trailer.
    Run { reader: WireReader, hops: u32, fragment: Blob },
    /// Undo what was written at a savepoint or later.
    RollbackTo { transaction: TransactionId, savepoint: u64, step: u64 },
    /// Undo everything.
    RollBack { transaction: TransactionId },
    /// Get ready to commit.
    Prepare {
        reader: WireReader,
        /// Whether it has certainly written there.
        has_written: bool,
        /// The commit will be after this.
        newest: Timestamp,
    },
    /// It is committed.
    Commit { transaction: TransactionId, timestamp: Timestamp },
    /// To a coordinator: does this transaction go on?
    IsRunning { transaction: TransactionId },
    /// To anybody: what of this is yours?
    Owned { table: TableId, range: KeyRange },
    /// Who owns these keys?
    Whose { table: TableId, range: KeyRange, hops: u32 },
    /// The directory's own messages.
    Directory { table: TableId, message: Message<()> },
    /// Rows are coming; the answer names the move.
    MoveIn { table: TableId, range: KeyRange },
    /// Some of them; the last piece of a round says so.
    MovePiece { number: u64, piece: Blob, ends_round: bool },
    /// With this last piece, if there is one, all are there: own them. They were accessed so often a second.
    MoveAdopt { number: u64, rest: Option<Blob>, adopt: Message<()>, accesses: u64 },
    /// They are not coming after all.
    MoveDrop { number: u64 },
    /// Whether they were adopted, for a source who lost the answer. If not, they will not be any more.
    MoveOutcome { number: u64 },
    /// To a server that deals out an exchange: one part of it; batches come back.
    Take { exchange: ExchangeId, part: u32 },
    /// To the root: timestamps of so many commits, of transactions that have written on the sender alone; the first comes back.
    Next { count: u32 },
    /// To an owner: a row by key, as it is now.
    Newest { target: Target, key: Key, columns: Vec<u32> },
    /// To an owner: a row operation, a transaction of its own.
    RowOperation { target: Target, key: Key, operation: Blob },
}

impl Request {
    /// Its first word, for logs and tests.
    pub(crate) fn name(&self) -> String {
        format!("{self:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
    }
}

/// A table, and how its image led here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) table: TableId,
    /// Of the definition that the coordinator plans with.
    pub(crate) version: u32,
    /// How often the request was passed on.
    pub(crate) hops: u32,
}

/// A [`Reader`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WireReader {
    pub(crate) timestamp: Timestamp,
    pub(crate) transaction: Option<TransactionId>,
    pub(crate) changes: Vec<CatalogChange>,
    pub(crate) savepoint: u64,
}

impl WireReader {
    pub(crate) fn new(reader: &Reader) -> Self {
        Self {
            timestamp: reader.timestamp,
            transaction: reader.transaction,
            changes: reader.changes.to_vec(),
            savepoint: reader.savepoint,
        }
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader {
            timestamp: self.timestamp,
            transaction: self.transaction,
            changes: self.changes.as_slice().into(),
            savepoint: self.savepoint,
        }
    }
}

/// A [`store::Write`], with its rows written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum WireWrite {
    Insert(Blob),
    Load(Blob),
    Upsert(Blob),
    Delete(Vec<Key>),
}

/// What a server tells the root from time to time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    pub(crate) group: GroupId,
    /// No snapshot before this will be taken there any more.
    pub(crate) oldest: Timestamp,
    /// The members as it knows them.
    pub(crate) members: u64,
    pub(crate) load: ServerLoad,
    /// Where PostgreSQL clients call it.
    pub(crate) pg: Option<String>,
}
