//! Execution of plan fragments and row operations that other servers send.

use super::Reading;
use crate::Error;
use crate::peers::{BatchStream, ExchangeId, PushdownSteps};
use arrow::array::RecordBatch;
use bytes::Bytes;
use catalog::TableId;
use futures::future::BoxFuture;
use sdds::{Key, TransactionId};
use std::fmt::Debug;

/// Executes plan fragments of other servers. Crate `query` implements it, and `cluster` calls it.
pub trait Fragments: Debug + Send + Sync {
    /// Executes a fragment that reads what the transaction sees on this server.
    fn run(&self, reading: Reading, fragment: Bytes) -> BatchStream;

    /// Computes the writes of a DML pushdown from what the transaction sees on this server.
    fn pushdown(&self, reading: Reading, pushdown: Bytes) -> PushdownSteps;

    /// Executes a row operation of another server as a transaction of its own, and returns the
    /// number of changed rows. It changes only the row of `key`. Fails with [`Error::NotOwned`] if
    /// this server does not own the key.
    fn row_operation(&self, key: Key, operation: Bytes) -> BoxFuture<'static, Result<u64, Error>>;

    /// Executes the call of a procedure for the client of another server, as a transaction of its
    /// own, and returns the encoded result. Dropping the future ends the call. Fails with
    /// [`Error::NotOwned`] if this server does not own `key` of `table`.
    fn call(
        &self,
        id: TransactionId,
        table: TableId,
        key: Key,
        call: Bytes,
    ) -> BoxFuture<'static, Result<Bytes, Error>>;

    /// Ends a call early, if it runs. Its result says how it has ended.
    fn end_call(&self, id: TransactionId);

    /// Returns the rows of one partition of an exchange whose producer is this server. Each
    /// partition can be taken once.
    fn take(&self, exchange: ExchangeId, part: u32) -> BatchStream;

    /// Gives notifications of another server's session to the sessions that listen.
    fn publish(&self, _: &[u8]) {}

    /// Returns this server's rows of a system table that has rows of all servers; `None` for other
    /// names.
    fn describe(&self, name: &str) -> Option<RecordBatch>;
}
