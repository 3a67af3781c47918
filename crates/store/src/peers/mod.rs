//! The other servers of a cluster as transactions see them: how rows are located, read and written
//! there, and how distributed transactions end.
//!
//! Crate `cluster` implements [`Peers`]. A store without peers owns all rows of all tables.
//! Requests name keys, not buckets, and an owner verifies that it owns them. After
//! [`Error::NotOwned`], the image has learned of another owner.

mod metrics;
mod moves;
mod prepared;
mod pushdown;
mod requests;
mod write;

pub use metrics::{Finding, MessageCount, TableTotal, Traffic};
pub use moves::{MoveSetting, MoveSettings};
pub(crate) use prepared::PreparedPart;
pub use prepared::{Acknowledgement, Prepared};
pub use pushdown::{Changed, PushdownStep, PushdownSteps};
pub use requests::{
    BatchStream, Delivery, ExchangeId, LockPolicy, Reader, RequiredLocks, RowLocks, Whereabouts,
};
pub(crate) use write::BATCH_BYTES_MAX;
pub use write::{Write, Written};

use crate::{Error, Snapshot};
use arrow::array::{ArrayRef, RecordBatch};
use async_trait::async_trait;
use bytes::Bytes;
use catalog::{Sequence, Table, TableId};
use futures::future::BoxFuture;
use locks::{Mode, Owner, Party, Space};
use sdds::{GroupId, Key, KeyRange, ServerId, Timestamp, TransactionId};
use std::fmt::Debug;
use std::sync::Arc;

/// Maximum number of times that a request is sent again because its receiver does not own the keys
/// any more. Each time, the image has learned of another owner.
pub(crate) const ATTEMPTS_MAX: usize = 64;

/// The other servers. Calls have deadlines. They fail with [`Error::Unreachable`] when the deadline
/// passes, or a server cannot be reached.
#[async_trait]
pub trait Peers: Debug + Send + Sync {
    /// Returns this server.
    fn here(&self) -> ServerId;

    /// Returns the group that a server leads.
    fn group_of(&self, server: ServerId) -> GroupId;

    /// Returns the server that leads a group.
    fn leader_of(&self, group: GroupId) -> ServerId;

    /// Returns whether this server leads a group.
    fn is_here(&self, group: GroupId) -> bool {
        self.leader_of(group) == self.here()
    }

    /// Returns the name of a server, or its number if the name is unknown.
    fn server_name(&self, server: ServerId) -> String;

    /// Returns message counts of this server.
    fn traffic(&self) -> Traffic;

    /// Returns the cost of locating the rows of a table from this server.
    fn finding(&self, table: TableId) -> Finding;

    /// Completes when this server should stop waiting, with the error to return.
    fn patience(&self) -> BoxFuture<'static, Error>;

    /// Allocates the id of a transaction.
    fn transaction_id(&self) -> TransactionId;

    /// Returns an error if the cluster has evicted this server, so that it must not serve requests.
    fn refusal(&self) -> Option<Error>;

    /// Takes a snapshot that sees every acknowledged commit of any server.
    async fn snapshot(&self) -> Result<Snapshot, Error>;

    /// Returns the presumed owners of a range in key order, with adjacent ranges of one owner
    /// joined. What this server owns is certain. Waits for keys that are being moved out.
    async fn cover(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error>;

    /// Returns the presumed owner of a key and its neighbourhood, without waiting; empty if this
    /// server owns the key.
    fn whereabouts(&self, table: &Arc<Table>, key: &Key) -> Whereabouts;

    /// Returns the totals of a table, without waiting; `None` if they are unknown.
    fn total(&self, table: TableId) -> Option<TableTotal>;

    /// Returns the rows of keys on other servers: their values in some columns, and the position of
    /// each one's key in `keys`. Fails with [`Error::NotOwned`] if this server owns some of the
    /// keys.
    async fn get(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        keys: &[Key],
        columns: &[usize],
    ) -> Result<(Vec<ArrayRef>, Vec<usize>), Error>;

    /// Returns the keys of the rows that have the first entries of a range of an index, from its
    /// presumed owner ([`TableView::entries_here`](crate::TableView::entries_here)). Fails with
    /// [`Error::NotOwned`] if another server or this one owns a part of the range.
    async fn entries(
        &self,
        reader: &Reader,
        file: &Arc<Table>,
        owner: GroupId,
        range: &KeyRange,
        limit: usize,
    ) -> Result<Vec<Key>, Error>;

    /// Returns the newest values of a key's row in some columns from its owner
    /// ([`Store::find_newest`](crate::Store::find_newest)). Fails with [`Error::NotOwned`] if this
    /// server owns the key.
    async fn newest(
        &self,
        table: &Arc<Table>,
        key: &Key,
        columns: &[usize],
    ) -> Result<Option<Vec<ArrayRef>>, Error>;

    /// Sends a row operation to the owner of a key
    /// ([`Fragments::row_operation`](crate::Fragments::row_operation)). Fails with
    /// [`Error::NotOwned`] if another server or this one turns out to own the key; nothing has
    /// changed then.
    async fn row_operation(
        &self,
        table: &Arc<Table>,
        key: &Key,
        operation: Bytes,
    ) -> Result<u64, Error>;

    /// Writes rows on their presumed owner. After an error, nothing has been
    /// written.
    async fn write(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        write: Write,
    ) -> Result<Written, Error>;

    /// Locks rows of a table on their presumed owner; returns which it has locked. After
    /// [`Error::NotOwned`], nothing has been locked.
    async fn lock(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        rows: RowLocks,
    ) -> Result<Vec<bool>, Error>;

    /// Returns which parties wait for which on other servers. Those that do not answer are left out.
    async fn waits(&self) -> Vec<(Party, Party)>;

    /// Sends a DML pushdown to a presumed owner
    /// ([`Fragments::pushdown`](crate::Fragments::pushdown)). It leaves out keys that it does not
    /// own, and returns them. After an error, some rows may have been changed; roll back to a
    /// savepoint.
    async fn pushdown(
        &self,
        reader: &Reader,
        table: &Arc<Table>,
        owner: GroupId,
        pushdown: Bytes,
    ) -> Result<Changed, Error>;

    /// Executes a fragment on another server.
    fn run(
        &self,
        reader: &Reader,
        on: ServerId,
        fragment: Bytes,
        delivery: Delivery,
    ) -> BatchStream;

    /// Forwards a fragment, which was sent to this server by mistake, to the owner of its rows.
    fn pass_on(&self, reader: &Reader, on: ServerId, fragment: Bytes) -> BatchStream;

    /// Takes the rows of one partition of an exchange whose producer is another server.
    fn take(&self, on: ServerId, exchange: ExchangeId, part: u32) -> BatchStream;

    /// Undoes what was written on other servers since a savepoint ([`Reader::savepoint`]).
    async fn rollback_to(&self, transaction: TransactionId, savepoint: u64) -> Result<(), Error>;

    /// Commits a transaction at one timestamp on all servers where it has written. Its catalog
    /// changes are applied on every server. `locks` are those that it has taken with [`Self::lock_number`] and depends on:
    /// it fails with [`Error::Unserializable`] unless all are held when it is decided.
    async fn commit(
        &self,
        reader: &Reader,
        here: Option<Prepared>,
        locks: Option<RequiredLocks>,
    ) -> Result<Timestamp, Error>;

    /// Rolls back a transaction on all other servers, without waiting.
    fn roll_back(&self, transaction: TransactionId);

    /// Returns a system table of the cluster: `servers`, `groups`, `shares`, `moves` or `images`;
    /// `None` for other names.
    async fn describe(&self, name: &str) -> Result<Option<RecordBatch>, Error>;

    /// Returns the rows of other servers of a system table that has [rows of all
    /// servers](crate::Fragments::describe), by server name. Unreachable servers are left out.
    async fn gather(&self, name: &str) -> Vec<(String, RecordBatch)>;

    /// Sends notifications to all other servers. Servers that cannot be reached do not get them.
    async fn publish(&self, _: Bytes) {}

    /// Takes an advisory lock for an owner of this server, where all servers look for it. Waits for it, or returns false.
    ///
    /// # Errors
    /// 40P01; errors of the server that keeps the locks.
    async fn lock_number(
        &self,
        _owner: Owner,
        _number: (Space, i64),
        _mode: Mode,
        _waits: bool,
    ) -> Result<bool, Error> {
        Err(Error::unreachable(String::new(), "no server keeps advisory locks"))
    }

    /// Releases an advisory lock of an owner, or all of them. It is tried until it succeeds; the result ends after the
    /// first try.
    fn unlock_numbers(
        &self,
        _owner: Owner,
        _one: Option<((Space, i64), Mode)>,
    ) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether no server has committed a change of rows of a table since a timestamp. Who asks sees to it that none commits
    /// that matters.
    ///
    /// # Errors
    /// [`Error::Unreachable`].
    async fn is_unchanged(&self, _table: TableId, _since: Timestamp) -> Result<bool, Error> {
        Ok(false)
    }

    /// Sets the relative share of a server in every table; zero drains it. Blocks like
    /// [`Self::sequence_next`].
    fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error>;

    /// Returns the settings for moves that this server knows.
    fn move_settings(&self) -> MoveSettings;

    /// Changes the settings for moves on all servers. Blocks like [`Self::sequence_next`].
    fn change_moves(&self, change: MoveSetting) -> Result<(), Error>;

    /// Takes `count` values of a sequence, and returns the first. Blocks the thread until the
    /// answer arrives.
    fn sequence_next(&self, sequence: &Sequence, count: u32) -> Result<i64, Error>;

    /// Sets the value of a sequence. Blocks like [`Self::sequence_next`].
    fn sequence_set(&self, sequence: &Sequence, last: i64, called: bool) -> Result<(), Error>;

    /// Returns the last value of a sequence. Blocks like [`Self::sequence_next`].
    fn sequence_last(&self, sequence: &Sequence) -> Result<Option<i64>, Error>;
}
