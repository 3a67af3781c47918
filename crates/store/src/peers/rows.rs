//! Rows of other servers: the owners of keys, and what they are asked for.

use super::{BatchStream, Changed, Delivery, ExchangeId, Reader, RowLocks, Write, Written};
use crate::Error;
use arrow::array::ArrayRef;
use async_trait::async_trait;
use bytes::Bytes;
use catalog::{Table, TableId};
use futures::future::BoxFuture;
use sdds::{GroupId, Key, KeyRange, ServerId};
use std::fmt::Debug;
use std::sync::Arc;

/// Rows of other servers: the owners of keys, and what they are asked for.
#[async_trait]
pub trait RowPeers: Debug + Send + Sync {
    /// Returns the presumed owners of a range in key order, with adjacent ranges of one owner
    /// joined. What this server owns is certain. Waits for keys that are being moved out.
    async fn cover(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<(KeyRange, GroupId)>, Error>;

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

    /// Sends the call of a procedure to the owner of a key ([`Fragments::call`](crate::Fragments::call)), and asks it to end
    /// the call when `ending` completes. Fails with [`Error::NotOwned`] if another server or this
    /// one turns out to own the key; nothing has been executed then.
    async fn call(
        &self,
        table: &Arc<Table>,
        key: &Key,
        call: Bytes,
        ending: BoxFuture<'_, ()>,
    ) -> Result<Bytes, Error>;

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
}
