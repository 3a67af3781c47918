//! What the root and the participants of a transaction do: timestamps, commits, locks, sequences and settings.

use super::{MoveSetting, Prepared, Reader, RequiredLocks};
use crate::{Error, Snapshot};
use async_trait::async_trait;
use catalog::Sequence;
use futures::future::BoxFuture;
use locks::{Mode, Owner, Space};
use sdds::{Timestamp, TransactionId};
use std::fmt::Debug;

/// What the root and the participants of a transaction do: timestamps, commits, locks, sequences and settings.
#[async_trait]
pub trait RootPeers: Debug + Send + Sync {
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

    /// Sets the relative share of a server in every table; zero drains it. Blocks like
    /// [`Self::sequence_next`].
    fn set_weight(&self, name: &str, weight: u32) -> Result<(), Error>;

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
