//! What concerns the cluster as a whole: its settings, sequences, system tables and notifications.

use super::MoveSetting;
use crate::Error;
use arrow::array::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use catalog::Sequence;
use std::fmt::Debug;

/// What concerns the cluster as a whole: its settings, sequences, system tables and notifications.
#[async_trait]
pub trait ClusterPeers: Debug + Send + Sync {
    /// Returns a system table of the cluster: `servers`, `groups`, `shares`, `moves` or `images`;
    /// `None` for other names.
    async fn describe(&self, name: &str) -> Result<Option<RecordBatch>, Error>;

    /// Returns the rows of other servers of a system table that has [rows of all
    /// servers](crate::Fragments::describe), by server name. Unreachable servers are left out.
    async fn gather(&self, name: &str) -> Vec<(String, RecordBatch)>;

    /// Sends notifications to all other servers. Servers that cannot be reached do not get them.
    async fn publish(&self, _: Bytes) {}

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
