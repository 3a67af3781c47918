//! What a statement on one server needs of the others: rows by key, locks, changes, and streams of rows.

use super::answer::Adjustment;
use super::blob::Blob;
use super::ordinals::ordinals;
use super::report::ServerReport;
use sdds::{Key, KeyRange, Timestamp};
use serde::{Deserialize, Serialize};
use store::catalog::{CatalogChange, TableId};
use store::locks::Party;
use store::{ExchangeId, IndexChanges, Reader, RowLocks, TransactionId};

/// A request of a statement.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum RowsRequest {
    /// To an owner: rows by key at a snapshot.
    Get {
        /// Who reads or writes.
        reader: WireReader,
        /// The table.
        target: Target,
        /// The keys of the rows.
        keys: Vec<Key>,
        /// The positions of the wanted columns in the definition of the table.
        columns: Vec<u32>,
    },
    /// To an owner: the newest version of a row.
    Newest {
        /// The table.
        target: Target,
        /// The key of the row.
        key: Key,
        /// The positions of the wanted columns in the definition of the table.
        columns: Vec<u32>,
    },
    /// To an owner: the keys of the rows with the first entries of a range of an index.
    Entries {
        /// Who reads or writes.
        reader: WireReader,
        /// The table.
        target: Target,
        /// The range of entries.
        range: KeyRange,
        /// At most so many rows.
        limit: u32,
    },
    /// To any server: which ranges of a table it owns, unless rows of it have changed since a timestamp. It first waits for
    /// what may commit until `now`.
    Unchanged {
        /// The table.
        table: TableId,
        /// Changes up to this do not count.
        since: Timestamp,
        /// Changes after this do not count.
        now: Timestamp,
    },
    /// To an owner: a row operation, which is a transaction of its own. Late, it is executed, and its client has been told
    /// that the outcome is unknown.
    RowOperation {
        /// The table.
        target: Target,
        /// The key of the row.
        key: Key,
        /// The encoded operation.
        operation: Blob,
    },
    /// The coordinator to an owner: rows to stage. Late, the transaction has ended there, or has rolled back to a savepoint
    /// before its step: it is refused (40001).
    Write {
        /// Who reads or writes.
        reader: WireReader,
        /// The table.
        target: Target,
        /// The rows.
        write: WireWrite,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// The coordinator to an owner: a DML pushdown to execute on its rows. Late as [`Self::Write`].
    DmlPushdown {
        /// Who reads or writes.
        reader: WireReader,
        /// The table.
        target: Target,
        /// The encoded pushdown.
        pushdown: Blob,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// The coordinator to an owner: rows to lock for a query. Late as [`Self::Write`].
    Lock {
        /// Who reads or writes.
        reader: WireReader,
        /// The table.
        target: Target,
        /// The rows, and how they are locked.
        rows: RowLocks,
        /// How often its transaction has rolled back to a savepoint before.
        step: u64,
    },
    /// To any server: which parties wait for which.
    Waits,
    /// To any server: runs a plan fragment. The answers are batches and adjustments.
    Run {
        /// Who reads or writes.
        reader: WireReader,
        /// The number of servers that the fragment has reached, including the receiver.
        hops: u32,
        /// The encoded fragment.
        fragment: Blob,
    },
    /// To a producer of an exchange: one part of its rows, as a stream of batches. Late, the exchange is over.
    Take {
        /// The exchange.
        exchange: ExchangeId,
        /// The number of the part.
        part: u32,
    },
    /// To any server: its rows of a system table that has rows of all servers, as a stream of
    /// batches.
    Describe {
        /// The name of the table.
        name: String,
    },
    /// To any server: its state, for system tables.
    Report,
    /// To any server: notifications of committed transactions, for the sessions that listen there. The answer is nothing; if
    /// it is lost, so are they.
    Publish {
        /// The encoded notifications.
        notifications: Blob,
    },
    /// To an owner: a call of a procedure, which is a transaction of its own. Late, it is executed, and its client has been
    /// told that the outcome is unknown.
    Call {
        /// The table of the rows that the procedure is about.
        target: Target,
        /// The first key of these rows.
        key: Key,
        /// Names the call: an id that no transaction has.
        id: TransactionId,
        /// The encoded call.
        call: Blob,
    },
    /// To the receiver of a call: its client wants no more of it. The call ends as soon as it can, and its answer says how.
    /// Nothing happens to a call that has ended, or that has not arrived.
    EndCall {
        /// The call.
        id: TransactionId,
    },
}

ordinals!(RowsRequest {
    0 = Get,
    1 = Newest,
    2 = Entries,
    3 = Unchanged,
    4 = RowOperation,
    5 = Write,
    6 = DmlPushdown,
    7 = Lock,
    8 = Waits,
    9 = Run,
    10 = Take,
    11 = Describe,
    12 = Report,
    13 = Publish,
    14 = Call,
    15 = EndCall,
});

/// An answer, or one of a stream.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum RowsAnswer {
    /// To what has no other answer.
    Done,
    /// The server does not own all keys; nothing was done.
    NotOwned {
        /// The keys that were asked for.
        range: KeyRange,
        /// What the sender should learn.
        adjustment: Adjustment,
    },
    /// Rows, and for each the position of its key in the request.
    Found {
        /// The rows, as a batch; `None` without any.
        rows: Option<Blob>,
        /// For each row the position of its key in the request.
        positions: Vec<u32>,
        /// What the sender should learn.
        adjustment: Adjustment,
    },
    /// Keys of rows.
    Keys(Vec<Key>),
    /// The ranges that a server owns of a table; `None` if rows have changed.
    Unchanged(Option<Vec<KeyRange>>),
    /// The number of written rows, and what changes in indexes.
    Written {
        /// The number of rows.
        rows: u64,
        /// What changes in indexes.
        entries: IndexChanges,
    },
    /// The number of changed rows, the ranges that the server does not own, and what changes in indexes.
    Changed {
        /// The number of rows.
        rows: u64,
        /// The ranges that the server does not own.
        rest: Vec<KeyRange>,
        /// What changes in indexes.
        entries: IndexChanges,
        /// What the sender should learn.
        adjustment: Adjustment,
    },
    /// Which rows are locked.
    Locked(Vec<bool>),
    /// Which parties wait for which.
    Waits(Vec<(Party, Party)>),
    /// A batch of the rows of a fragment or an exchange.
    Batch(Blob),
    /// An adjustment for the sender of a fragment.
    Adjustment(Adjustment),
    /// The state of a server.
    Report(Box<ServerReport>),
    /// The encoded result of a call.
    Called(Blob),
}

ordinals!(RowsAnswer {
    0 = Done,
    1 = NotOwned,
    2 = Found,
    3 = Keys,
    4 = Unchanged,
    5 = Written,
    6 = Changed,
    7 = Locked,
    8 = Waits,
    9 = Batch,
    10 = Adjustment,
    11 = Report,
    12 = Called,
});

/// The table of a request, and the hops so far.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Target {
    /// The table.
    pub table: TableId,
    /// The version of the coordinator's definition of the table.
    pub version: u32,
    /// The number of servers that the request has reached, including the receiver.
    pub hops: u32,
}

/// An encoded [`Reader`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WireReader {
    /// The snapshot.
    pub timestamp: Timestamp,
    /// The transaction whose writes are visible too.
    pub transaction: Option<TransactionId>,
    /// The changes of the catalog that the transaction has made.
    pub changes: Vec<CatalogChange>,
    /// The newest savepoint of the transaction.
    pub savepoint: u64,
    /// Whether the transaction has certainly written on the receiver. A receiver that does not know that has been
    /// started again, and has lost what was written.
    pub has_written: bool,
    /// The party for which writes lock rows.
    pub locks: Option<Party>,
    /// Whether writes wait for locks of others, instead of failing.
    pub waits: bool,
}

impl WireReader {
    /// Encodes a reader.
    pub fn new(reader: &Reader, has_written: bool) -> Self {
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

    /// The reader.
    pub fn reader(&self) -> Reader {
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
pub enum WireWrite {
    /// [`store::Write::Insert`]
    Insert(Blob),
    /// [`store::Write::Load`]
    Load(Blob),
    /// [`store::Write::Upsert`]
    Upsert(Blob),
    /// [`store::Write::Delete`]
    Delete(Vec<Key>),
    /// [`store::Write::Require`]
    Require(Vec<Key>),
}

ordinals!(WireWrite { 0 = Insert, 1 = Load, 2 = Upsert, 3 = Delete, 4 = Require });
