//! Owners of keys, as a coordinator or a server on its behalf sees them.
//!
//! A coordinator uses its image and is corrected. A server that works for another uses the
//! directory alone, forwards what it does not own, and collects adjustments for the coordinator's
//! image.

use super::Routing;
use crate::directory::File;
use crate::timeouts::TIMEOUTS;
use futures::future::join_all;
use messages::{Adjustment, DirectoryAnswer, DirectoryRequest, Target};
use parking_lot::Mutex;
use protocols::routing::{self, HOPS_MAX, Parts, Search, Trail};
use sdds::directory::{Entry, Image};
use sdds::{GroupId, Key, KeyRange, ServerId};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::Error;
use store::catalog::{Table, TableId};

/// A view of the owners of keys.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) routing: Arc<Routing>,
    /// The number of hops of the request that this server works on; zero for a coordinator.
    pub(crate) hops: u32,
    /// What the sender of the request should learn.
    trail: Arc<Mutex<Trail<TableId>>>,
}

impl View {
    /// The view of a coordinator.
    pub(crate) fn coordinating(routing: Arc<Routing>) -> Self {
        Self { routing, hops: 0, trail: Arc::default() }
    }

    /// The view of a server that works on a request after `hops` hops.
    pub(crate) fn serving(routing: Arc<Routing>, hops: u32) -> Self {
        Self { routing, hops: hops.max(1), trail: Arc::default() }
    }

    fn here(&self) -> GroupId {
        self.routing.membership.own_group()
    }

    /// Applies an adjustment, and keeps it for the sender of the request.
    pub(crate) fn learn(&self, file: &File, adjustment: Adjustment) {
        let entries = adjustment.entries.iter().filter(|(table, _)| *table == file.table());
        let entries: Vec<Entry> = entries.map(|(_, entry)| entry.clone()).collect();
        if !entries.is_empty() {
            file.learn(&entries);
        }
        if self.hops == 0 {
            let forwards = u64::from(adjustment.forwards);
            file.counters().forwards.fetch_add(forwards, Ordering::Relaxed);
        } else {
            let mut trail = self.trail.lock();
            trail.count(adjustment.forwards);
            trail.tell(file.table(), entries);
        }
    }

    /// Adds entries for the sender of the request.
    fn tell(&self, table: TableId, entries: Vec<Entry>) {
        self.trail.lock().tell(table, entries);
    }

    /// Removes and returns the adjustment for the sender of the request.
    pub(crate) fn take_adjustment(&self) -> Adjustment {
        let (entries, forwards) = self.trail.lock().take();
        Adjustment { entries, forwards }
    }

    /// Counts a forward.
    pub(crate) fn count_forward(&self) {
        self.trail.lock().count(1);
    }

    /// Counts a request to another server.
    pub(crate) fn count(&self, file: &File) {
        if self.hops == 0 {
            file.counters().requests.fetch_add(1, Ordering::Relaxed);
        } else {
            self.count_forward();
        }
    }

    /// A table, as it is named in the next request.
    pub(crate) fn target(&self, table: &Table) -> Target {
        Target { table: table.id, version: table.version, hops: self.hops + 1 }
    }

    /// The error for keys that are not where they were looked for: the coordinator looks again.
    pub(crate) fn misrouted(&self, range: KeyRange) -> Error {
        if self.hops == 0 { Error::NotOwned { range } } else { Error::Astray { range } }
    }

    /// The parts of a table's range with the group of each: its owner, or one that knows more.
    /// Everything is local for temporary and uncommitted tables.
    pub(crate) async fn cover(&self, table: TableId, range: &KeyRange) -> Result<Parts, Error> {
        let catalog = self.routing.store.catalog();
        match catalog.table_by_id(table) {
            Some(definition) if !store::catalog::is_temporary_schema(&definition.schema) => {
                self.parts(&self.routing.files.of(definition), range).await
            }
            _ => Ok(vec![(range.clone(), self.here())]),
        }
    }

    /// The parts of a range with the group of each: its owner, or one that knows more. Waits while
    /// keys of the range are leaving this server.
    pub(crate) async fn parts(&self, file: &File, range: &KeyRange) -> Result<Parts, Error> {
        if !routing::may_go_on(self.hops) {
            return Err(owner_not_found(range));
        }
        let waiting = async {
            loop {
                let moved = file.moved();
                match self.parts_now(file, range) {
                    Some(parts) => return parts,
                    None => moved.await,
                }
            }
        };
        let parts = self.routing.calls.tasks.within(TIMEOUTS.call, waiting).await;
        let parts = parts.ok_or_else(|| {
            let reason = format!("the keys {range} are moving to another server for too long");
            Error::unreachable(self.routing.membership.name.clone(), reason)
        })?;
        for part in routing::unknown_before(self.hops, &parts, self.here()) {
            self.tell(file.table(), file.own(part));
        }
        let is_gone = |group| self.routing.membership.is_gone(group);
        match routing::search(self.hops, &parts, is_gone) {
            Search::Here => Ok(parts),
            Search::Everybody => Ok(self.broadcast_lookup(file, range, parts).await),
        }
    }

    fn parts_now(&self, file: &File, range: &KeyRange) -> Option<Parts> {
        if self.hops == 0 {
            return file.believed(range);
        }
        let mut found = Vec::new();
        let parts = file.known(range, &mut found);
        self.tell(file.table(), found);
        parts
    }

    /// Asks all servers which keys of a range they own, without the directory. Keys without an
    /// owner keep the group in `parts`.
    async fn broadcast_lookup(&self, file: &File, range: &KeyRange, parts: Parts) -> Parts {
        file.counters().broadcasts.fetch_add(1, Ordering::Relaxed);
        let request = DirectoryRequest::ListOwned { table: file.table(), range: range.clone() };
        let Routing { membership, calls, .. } = &*self.routing;
        // A server that has just joined may own some keys. Without the root the known members must
        // do.
        let _ = calls.tasks.within(TIMEOUTS.broadcast, calls.refresh_members()).await;
        let servers: Vec<ServerId> =
            membership.list().present().map(|member| member.server).collect();
        let others = servers.into_iter().filter(|server| *server != membership.here);
        let asked = others.map(|server| calls.ask_within(server, &request, TIMEOUTS.broadcast));
        let mut owned = file.own(range);
        for answer in join_all(asked).await.into_iter().flatten() {
            if let DirectoryAnswer::Owners(entries) = answer {
                owned.extend(entries);
            }
        }
        file.learn(&owned);
        self.tell(file.table(), owned.clone());
        let mut found = Parts::new();
        for (part, believed) in parts {
            let mut image = Image::new(believed);
            image.learn_all(&owned);
            found.extend(image.cover(&part).into_iter().map(|e| (e.range, e.owner.group)));
        }
        found
    }

    /// The other group that owns a key, or knows more.
    ///
    /// # Errors
    /// [`Error::NotOwned`] if this server owns it.
    pub(crate) async fn other_owner(&self, file: &File, key: &Key) -> Result<GroupId, Error> {
        let range = KeyRange::point(key);
        let parts = self.parts(file, &range).await?;
        let owner = parts.first().map(|(_, owner)| *owner);
        owner.filter(|owner| *owner != self.here()).ok_or(Error::NotOwned { range })
    }

    /// The owners of a range, found by the directory.
    pub(crate) async fn owners(
        &self,
        table: TableId,
        range: &KeyRange,
    ) -> Result<Vec<Entry>, Error> {
        let file = self.routing.files.by_id(table)?;
        let parts = self.cover(table, range).await?;
        let listed = self.trail.lock().take_entries();
        let mut entries: Vec<Entry> = listed.into_iter().map(|(_, entry)| entry).collect();
        for (part, group) in parts {
            // What a page on this server says need not be asked for.
            let is_listed =
                |entry: &Entry| entry.owner.group == group && entry.range.overlaps(&part);
            if group == self.here() {
                entries.extend(file.own(&part));
            } else if !entries.iter().any(is_listed) {
                let request =
                    DirectoryRequest::FindOwners { table, range: part, hops: self.hops + 1 };
                if let DirectoryAnswer::Owners(owners) =
                    self.routing.calls.ask_leader(group, &request).await?
                {
                    entries.extend(owners);
                }
            }
        }
        Ok(entries)
    }
}

fn owner_not_found(range: &KeyRange) -> Error {
    let reason = format!("the owner of the keys {range} was not found within {HOPS_MAX} hops");
    Error::unreachable("", reason)
}
