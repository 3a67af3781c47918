//! What this server knows of the cluster, without asking anybody.

use super::{Finding, MoveSettings, TableTotal, Traffic, Whereabouts};
use crate::Error;
use catalog::{Table, TableId};
use futures::future::BoxFuture;
use sdds::{GroupId, Key, ServerId, TransactionId};
use std::fmt::Debug;
use std::sync::Arc;

/// What this server knows of the cluster, without asking anybody.
pub trait Knowledge: Debug + Send + Sync {
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

    /// Returns the presumed owner of a key and its neighbourhood, without waiting; empty if this
    /// server owns the key.
    fn whereabouts(&self, table: &Arc<Table>, key: &Key) -> Whereabouts;

    /// Returns the totals of a table, without waiting; `None` if they are unknown.
    fn total(&self, table: TableId) -> Option<TableTotal>;

    /// Returns the settings for moves that this server knows.
    fn move_settings(&self) -> MoveSettings;
}
