//! How transactions begin and end on all servers, and the locks that are kept for sessions of all of them.

use super::{Prepared, Reader, RequiredLocks};
use crate::{Error, Snapshot};
use async_trait::async_trait;
use catalog::TableId;
use futures::future::BoxFuture;
use locks::{Mode, Owner, Party, Space};
use sdds::{Timestamp, TransactionId};
use std::fmt::Debug;

/// How transactions begin and end on all servers, and the locks that are kept for sessions of all of them.
#[async_trait]
pub trait TransactionPeers: Debug + Send + Sync {
    /// Takes a snapshot that sees every acknowledged commit of any server.
    async fn snapshot(&self) -> Result<Snapshot, Error>;

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

    /// Returns which parties wait for which on other servers. Those that do not answer are left out.
    async fn waits(&self) -> Vec<(Party, Party)>;
}
