//! The store as a server of a cluster: prepared transactions, and timestamps of other servers.

use super::conflicts::refuse_conflicts;
use super::{CommitRequest, Store};
use crate::file::Tile;
use crate::holds::{HoldId, PreparedWrites};
use crate::{Error, Snapshot};
use catalog::TableId;
use durable::PreparedPart;
use journal::Position;
use sdds::{KeyRange, Timestamp};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Store {
    /// Checks a transaction for conflicts, and holds its rows and definitions.
    pub(crate) fn prepare(&self, request: &CommitRequest) -> Result<HoldId, Error> {
        let machine = self.machine();
        let published = Arc::clone(machine.head());
        let mut held = self.holds().lock();
        let refused = refuse_conflicts(&published, &held, request);
        refused.inspect_err(|error| self.count_conflict(error))?;
        let writes = PreparedWrites {
            after: Timestamp::ZERO,
            writes: request.writes.clone(),
            changes: request.catalog_changes.clone(),
            has_shared_changes: request.catalog_changes.iter().any(|c| request.is_shared(c)),
        };
        Ok(held.prepare(published.timestamp, writes))
    }

    /// Holds the rows and definitions of a part that was prepared before a restart. It may commit at any timestamp.
    pub(crate) fn hold_undecided(&self, part: &PreparedPart) -> HoldId {
        let PreparedPart { catalog, writes } = part.clone();
        let has_shared_changes = !catalog.is_empty();
        let after = Timestamp::ZERO;
        let writes = PreparedWrites { after, writes, changes: catalog, has_shared_changes };
        self.holds().lock().hold(writes)
    }

    /// Releases the hold of a commit once it is published.
    pub(crate) fn release_published(&self, position: Position, hold: HoldId) {
        let publisher = self.machine().publisher.clone();
        match publisher {
            Some(publisher) => publisher.release_after(position, hold),
            None => self.holds().release(hold),
        }
    }

    /// Returns the timestamp after which the oldest prepared transaction commits, and the position of the log at which
    /// that was so.
    pub fn oldest_undecided(&self) -> (Option<Timestamp>, Position) {
        let machine = self.machine();
        let oldest = self.holds().lock().oldest_prepared();
        (oldest, machine.log.position)
    }

    /// Takes a snapshot at a timestamp of the cluster. Waits for prepared transactions that may
    /// commit at or before it. Rows are those at the timestamp. The catalog and the files of tables
    /// are the newest ones.
    pub async fn snapshot_at(&self, timestamp: Timestamp) -> Snapshot {
        self.holds().settled_up_to(timestamp).await;
        self.snapshots().take_at(timestamp)
    }

    /// Returns the ranges of a table that this server owns; `None` if rows of it have changed since a timestamp. Waits for
    /// prepared transactions that may commit until `now`.
    pub async fn unchanged_since(
        &self,
        table: TableId,
        since: Timestamp,
        now: Timestamp,
    ) -> Option<Vec<KeyRange>> {
        self.holds().settled_up_to(now).await;
        let machine = self.machine();
        let file = machine.head().files.get(&table)?;
        let mut owned = Vec::new();
        for (range, tile) in file.directory().iter() {
            match tile {
                Tile::Here(bucket) | Tile::Leaving(bucket) if bucket.state().newest() > since => {
                    return None;
                }
                Tile::Here(_) => owned.push(range.clone()),
                Tile::Leaving(_) | Tile::Elsewhere => {}
            }
        }
        Some(owned)
    }

    /// Records a timestamp seen on another server: transactions prepared from now on commit after
    /// it.
    pub fn observe(&self, timestamp: Timestamp) {
        self.holds().observe(timestamp);
    }

    /// Returns the timestamp from which on snapshots of other servers can be read. A restart forgets versions that no new
    /// snapshot needs, and rows may have moved here without them.
    pub fn readable_from(&self) -> Timestamp {
        self.restarted_from().max(self.snapshots().moved_from())
    }

    fn restarted_from(&self) -> Timestamp {
        Timestamp(self.readable_from.load(Ordering::Acquire))
    }

    /// Whether every snapshot in use by any server can be read, as far as the root knows.
    pub fn is_readable(&self) -> bool {
        !self.is_in_cluster() || self.snapshots().asked_from() >= self.restarted_from()
    }

    /// Returns the timestamp of the oldest snapshot in use.
    pub fn oldest_snapshot(&self) -> Option<Timestamp> {
        self.snapshots().oldest()
    }

    /// Declares that other servers do not request snapshots before a timestamp, so that older
    /// versions can be compacted. Has an effect only in a cluster, where nothing is compacted
    /// before the first call.
    pub fn set_horizon(&self, timestamp: Timestamp) {
        self.snapshots().set_horizon(timestamp);
    }
}
