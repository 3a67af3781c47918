//! The root of the directory: the keepers of all pages, and the existing groups (C1).
//!
//! The root group has the authoritative version; all others have copies, which it sends with its
//! heartbeat. A copy is always one complete version. Within a process a copy is a pointer; on the
//! network only the difference to the receiver's version is sent.

use super::{Entry, Image, Owner};
use crate::{Epoch, GroupId};
use imbl::OrdSet;
use serde::{Deserialize, Serialize};

/// A version of the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Root {
    group: GroupId,
    version: u64,
    pages: Image,
    groups: OrdSet<GroupId>,
}

impl Root {
    /// The root of a file with one page and one group, which is the root group.
    pub fn new(group: GroupId) -> Self {
        let pages = Image::of(Owner { group, epoch: Epoch::FIRST });
        Self { group, version: 0, pages, groups: OrdSet::unit(group) }
    }

    /// The root group.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Increases by one with each change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The keepers of the pages, by key.
    pub fn pages(&self) -> &Image {
        &self.pages
    }

    /// All groups that have joined.
    pub fn groups(&self) -> impl Iterator<Item = GroupId> {
        self.groups.iter().copied()
    }

    pub(super) fn record(&mut self, page: &Entry) {
        if self.pages.learn(page) {
            self.version += 1;
        }
    }

    /// Makes the root group the keeper of one page of everything, unless this version is of the time after. The version is
    /// the number of the epoch.
    pub(super) fn reset(&mut self, epoch: Epoch) {
        if self.version < epoch.0 {
            self.pages = Image::of(Owner { group: self.group, epoch });
            self.version = epoch.0;
        }
    }

    pub(super) fn join(&mut self, group: GroupId) {
        if self.groups.insert(group).is_none() {
            self.version += 1;
        }
    }
}
