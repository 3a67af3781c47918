//! The other servers of a cluster, as a transaction sees them: where rows are that are not here, how they are
//! read and written there, and how a transaction on several servers ends.
//!
//! `cluster` implements [`Peers`]; a store without it owns every row of every table. Every request names keys,
//! never a bucket, and an owner verifies that they are its own ([`Error::NotOwned`] where they are not, when the
//! image has learned who owns them). A transaction on several servers is one [`crate::Transaction`] on each, at one
//! timestamp; they are prepared, and then committed together.

use crate::catalog::{Catalog, CatalogChange, Sequence, Table, TableId};
use crate::prepared::Prepared;
use crate::pushdown::{Changed, PushdownSteps};
use crate::write_set::WriteSet;
use crate::{Error, Snapshot, TableView};
use arrow::array::{ArrayRef, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use sdds::directory::Entry;
use sdds::{GroupId, Key, KeyRange, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::num::NonZeroU64;
use std::sync::Arc;

/// Rows that come from another server, in the order in which it sends them.
pub type BatchStream = BoxStream<'static, Result<RecordBatch, Error>>;

/// A transaction's name, the same on every server that takes part in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TransactionId {
    /// The server that its client is connected to.
    pub coordinator: GroupId,
    /// Never used again by that server.
    pub number: u64,
}

/// An exchange's name: rows of one operator's output, dealt out in parts to the servers that run the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExchangeId {
    /// The server whose statement it belongs to.
    pub coordinator: GroupId,
    /// Never used again by that server.
    pub number: u64,
}

/// What a table has on all servers together, as was heard last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TableTotal {
    /// Its rows.
    pub rows: u64,
    /// Bytes in its buckets.
    pub bytes: u64,
}

/// Messages in one direction, and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MessageCount {
    /// Requests and answers.
    pub messages: u64,
    /// Their bytes as they are encoded, before frames and encryption.
    pub bytes: u64,
}

/// What a server has said to others since its start; heartbeats and questions about this are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Its requests to others, and its answers to theirs.
    pub sent: MessageCount,
    /// Others' requests, and their answers.
    pub received: MessageCount,
}

/// What it has cost a server to find the owners of a table's rows, since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Finding {
    /// Requests for keys of other servers, on behalf of its own clients.
    pub requests: u64,
    /// How often one of them was passed on, or sent back to be sent elsewhere.
    pub forwards: u64,
    /// Adjustments that taught its image something.
    pub adjustments: u64,
    /// How often everybody was asked whose keys are.
    pub broadcasts: u64,
}

impl Finding {
    /// Messages on the way to owners: one a request, and one more for each forward.
    pub fn hops(&self) -> u64 {
        self.requests + self.forwards
    }
}

/// Whose the rows of some keys are, for a client that asks their owners itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// Who is believed to own what.
    pub entries: Vec<Entry>,
    /// Where PostgreSQL clients call those groups' servers, as far as is known: `host:port`.
    pub servers: Vec<(GroupId, String)>,
}

/// On whose behalf rows are read and written on other servers.
#[derive(Debug, Clone)]
pub struct Reader {
    /// What is committed at or before this is seen.
    pub timestamp: Timestamp,
    /// Whose own writes are seen, too.
    pub transaction: Option<TransactionId>,
    /// What that transaction has changed of the catalog so far.
    pub changes: Arc<[CatalogChange]>,
    /// The newest of the transaction's savepoints; what is written now is undone with it.
    pub savepoint: u64,
}

/// How rows move from server to server, the same for all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveSettings {
    /// Whether nothing moves.
    pub is_paused: bool,
    /// How much a server gives away at most; `None` for no limit.
    pub bytes_per_second: Option<NonZeroU64>,
}

/// A change of [`MoveSettings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoveSetting {
    /// Whether nothing moves.
    IsPaused(bool),
    /// How much a server gives away at most.
    BytesPerSecond(Option<NonZeroU64>),
}

impl MoveSettings {
    /// Changes one of them.
    pub fn change(&mut self, change: MoveSetting) {
        match change {
            MoveSetting::IsPaused(is_paused) => self.is_paused = is_paused,
            MoveSetting::BytesPerSecond(limit) => self.bytes_per_second = limit,
        }
    }
}

/// How the answers of another server come, of which there may be many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// As soon as there is room for them here.
    #[default]
    Pushed,
    /// The first one says that they are there; the others come when their reader asks for the second.
    Pulled,
}

/// Rows to be written by their owner.
#[derive(Debug, Clone)]
pub enum Write {
    /// New rows with all columns of the table; a key that exists is an error.
    Insert(RecordBatch),
    /// The same, many at once: they become a run.
    Load(RecordBatch),
    /// Rows with all columns that replace those with the same key.
    Upsert(RecordBatch),
    /// The rows of these keys go.
    Delete(Vec<Key>),
}

/// What one server's part of a transaction reads: its catalog and tables with the writes that are staged here.
#[derive(Debug, Clone)]
pub struct Reading {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) snapshot: Snapshot,
    pub(crate) writes: WriteSet,
    pub(crate) peers: Option<(Arc<dyn Peers>, Reader)>,
}

impl Reading {
    /// The catalog, with the transaction's own changes.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// A table with the transaction's own writes.
    pub fn table(&self, id: TableId) -> Option<TableView> {
        let table = Arc::clone(self.catalog.table_by_id(id)?);
        let file = self.snapshot.file(id).cloned();
        let writes = self.writes.get(&id).cloned();
        Some(TableView::new(table, file, self.snapshot.clone(), writes, self.peers.clone()))
    }

    /// The other servers, and as whom they are to be asked; `None` where there are none.
    pub fn peers(&self) -> Option<&(Arc<dyn Peers>, Reader)> {
        self.peers.as_ref()
    }
}

/// Runs fragments (operators of a plan) that other servers ship here. `query` implements it, `cluster` calls it.
pub trait Fragments: Debug + Send + Sync {
    /// Runs a fragment over what a transaction's part here reads.
    fn run(&self, reading: Reading, fragment: Bytes) -> BatchStream;

    /// What is to be written of the rows that a transaction's part here reads, by an pushdown that its coordinator has sent.
    fn pushdown(&self, reading: Reading, pushdown: Bytes) -> PushdownSteps;

    /// Does what another server's row operation says, as a transaction of its own: it changes one row, whose key this server
    /// owns. How many rows were changed; [`Error::NotOwned`] where the key has left.
    fn row_operation(&self, key: Key, operation: Bytes) -> BoxFuture<'static, Result<u64, Error>>;

    /// The rows of one part of an exchange that a fragment deals out here. Each part is taken once.
    fn take(&self, exchange: ExchangeId, part: u32) -> BatchStream;

    /// This server's rows of a table that has rows of all servers; `None` where there is none of this name.
    fn describe(&self, name: &str) -> Option<RecordBatch>;
}

/// The other servers. Every call has a deadline; one that is passed, and a server that cannot be reached, are
/// [`Error::Unreachable`].
#[async_trait]
pub trait Peers: Debug + Send + Sync {
    /// The group that this server leads.
    fn here(&self) -> GroupId;

    /// What people call the server of a group; the group's number where it is not known.
    fn server_name(&self, group: GroupId) -> String;

    /// What this server has said to others so far, and heard from them.
    fn traffic(&self) -> Traffic;

    /// What finding the owners of a table's rows has cost this server.
    fn finding(&self, table: TableId) -> Finding;

    /// Done when nothing should be waited for any longer on this server, with what is then to be said.
    fn patience(&self) -> BoxFuture<'static, Error>;

    /// A name for a transaction that begins here.
    fn transaction_id(&self) -> TransactionId;

    /// Why this server serves nobody any more: the cluster has given it up.
    fn refusal(&self) -> Option<Error>;

    /// A snapshot that sees every commit acknowledged so far, on any server.
    async fn snapshot(&self) -> Result<Snapshot, Error>;

    /// Who is believed to own the keys of a range, in key order; stretches of one owner are one entry. What is owned here
    /// is known and not believed; keys that are just leaving here are waited for.
    async fn cover(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error>;

    /// Whose the keys around one are that is another server's; nothing for a key that is owned here. Returns at once: what
    /// is told is what is believed.
    fn whereabouts(&self, table: &Arc<Table>, key: &Key) -> Whereabouts;

    /// What a table has on all servers; `None` where nobody has said so far. Returns at once.
    fn total(&self, table: TableId) -> Option<TableTotal>;

    /// The rows of some keys of other servers: their values column by column, and the position of each one's key.
    /// [`Error::NotOwned`] where some turn out to be here.
    async fn get(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error>;

    /// The values of a key's row in some columns, as they are now at its owner ([`Store::find_newest`](crate::Store::find_newest)).
    /// [`Error::NotOwned`] where it turns out to be here.
    async fn newest(
        &self,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error>;

    /// Has a key's owner do a row operation ([`Fragments::row_operation`]). [`Error::NotOwned`] where it turns out to be another
    /// server, or this one; nothing has changed then.
    async fn row_operation(
        &self,
        table: &Arc<Table>,
        key: &Key,
        operation: Bytes,
    ) -> Result<u64, Error>;

    /// Writes rows that a group is believed to own; how many were written. Nothing was where it is an error.
    async fn write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<u64, Error>;

    /// Has a group change rows that it is believed to own, as the bytes say ([`Fragments::pushdown`]). Of keys that it does not own
    /// it changes nothing, and says which they are. After an error some rows may have been changed; go back to a savepoint.
    async fn pushdown(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        pushdown: Bytes,
    ) -> Result<Changed, Error>;

    /// Runs a fragment on another server.
    fn run(&self, reader: &Reader, on: GroupId, fragment: Bytes, delivery: Delivery)
    -> BatchStream;

    /// Runs a fragment that was sent here by a server that took another's rows for ours: on the one that owns them.
    fn pass_on(&self, reader: &Reader, on: GroupId, fragment: Bytes) -> BatchStream;

    /// Takes the rows of one part of an exchange that another server deals out.
    fn take(&self, on: GroupId, exchange: ExchangeId, part: u32) -> BatchStream;

    /// Undoes what was written on other servers at this savepoint or a later one ([`Reader::savepoint`]).
    async fn rollback_to(&self, transaction: TransactionId, savepoint: u64) -> Result<(), Error>;

    /// Commits a transaction on all servers where it has written, at one timestamp. What it has changed of the
    /// catalog is changed on every server.
    async fn commit(&self, reader: &Reader, here: Option<Prepared>) -> Result<Timestamp, Error>;

    /// Undoes a transaction on all other servers; returns at once.
    fn roll_back(&self, transaction: TransactionId);

    /// A table about the cluster: `servers`, `groups`, `shares`, `moves` or `images`; `None` for any other name.
    async fn describe(&self, name: &str) -> Result<Option<RecordBatch>, Error>;

    /// What the other servers tell of themselves: their [rows](Fragments::describe) of a table that has rows of all servers, by
    /// the servers' names. Those that cannot be reached are left out.
    async fn gather(&self, name: &str) -> Vec<(String, RecordBatch)>;

    /// Gives the server of a name another share of every table, relative to the others; zero empties it. Blocks like
    /// [`Self::sequence_next`].
    fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error>;

    /// How rows move, as far as this server has heard.
    fn move_settings(&self) -> MoveSettings;

    /// Changes how rows move, on all servers. Blocks like [`Self::sequence_next`].
    fn change_moves(&self, change: MoveSetting) -> Result<(), Error>;

    /// Takes `count` values of a sequence; the first comes back. Blocks its thread for a message and its answer.
    fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error>;

    /// Sets where a sequence stands. Blocks like [`Self::sequence_next`].
    fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error>;

    /// The last value that a sequence has given. Blocks like [`Self::sequence_next`].
    fn sequence_last(&self, sequence: &Sequence) -> Result<Option<i64>, Error>;
}
