//! A transaction on one server that has been prepared to commit.

use crate::Error;
use futures::future::BoxFuture;
use journal::Wait;
use sdds::{Timestamp, TransactionId};
use std::fmt::Debug;

/// Implements [`Prepared`].
pub(crate) trait PreparedPart: Debug + Send + Sync {
    /// Returns the bytes of the writes.
    fn bytes(&self) -> u64;

    /// Keeps the writes over a restart.
    fn keep(&mut self, transaction: TransactionId) -> BoxFuture<'_, Result<(), Error>>;

    /// Makes the writes visible at a timestamp.
    fn commit(self: Box<Self>, timestamp: Timestamp) -> Acknowledgement;

    /// Discards the writes.
    fn roll_back(self: Box<Self>);
}

/// A transaction that has been checked for conflicts, and is protected from new ones until it
/// commits. Dropping it rolls it back, unless it is [kept](Self::keep): the log has it then until it is decided.
#[derive(Debug)]
pub struct Prepared(Box<dyn PreparedPart>);

impl Prepared {
    pub(crate) fn new(part: impl PreparedPart + 'static) -> Self {
        Self(Box::new(part))
    }

    /// Returns the bytes of its writes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    /// Keeps the writes over a restart, until the transaction is decided; waits until they are durable. Without a data
    /// directory nothing happens.
    ///
    /// # Errors
    /// 53100 if the disk is full: it is not kept then. 58030 if the disk fails.
    pub async fn keep(&mut self, transaction: TransactionId) -> Result<(), Error> {
        self.0.keep(transaction).await
    }

    /// Makes the writes visible at a timestamp. It must be greater than every timestamp that the
    /// store had seen when the transaction was prepared, and no other commit may have it. Commits
    /// may come in any order.
    pub fn commit(self, timestamp: Timestamp) -> Acknowledgement {
        self.0.commit(timestamp)
    }

    /// Discards the writes for good.
    pub fn roll_back(self) {
        self.0.roll_back();
    }
}

/// A commit that may not be durable yet. Nobody is told of it before.
#[derive(Debug)]
pub struct Acknowledgement(Result<Option<Wait>, Error>);

impl Default for Acknowledgement {
    /// Of what a restart forgets.
    fn default() -> Self {
        Self::after(None)
    }
}

impl Acknowledgement {
    /// After a wait, if there is something to wait for.
    pub(crate) fn after(wait: Option<Wait>) -> Self {
        Self(Ok(wait))
    }

    /// Of what the log has not taken.
    pub(crate) fn refused(error: Error) -> Self {
        Self(Err(error))
    }

    /// Waits until the commit is as durable as promised.
    ///
    /// # Errors
    /// 58030 if the disk fails: the commit may be lost.
    pub async fn wait(self) -> Result<(), Error> {
        match self.0? {
            Some(wait) => Ok(wait.await?),
            None => Ok(()),
        }
    }
}
