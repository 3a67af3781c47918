//! The root of the directory: who keeps which page, and who is there at all (C1).
//!
//! The root group has the truth; everybody else a copy that it sends from time to time, with its heartbeat. A
//! copy is of one version as a whole. Between two in one process a copy is a pointer; on a wire it is
//! what differs from the receiver's version.

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
    /// The root of a file of one page, with one group, whose root group that is.
    pub fn new(group: GroupId) -> Self {
        let pages = Image::of(Owner { group, epoch: Epoch::FIRST });
        Self { group, version: 0, pages, groups: OrdSet::unit(group) }
    }

    /// The group that changes the root.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Grows by one with each change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Who keeps the page of which keys.
    pub fn pages(&self) -> &Image {
        &self.pages
    }

    /// Every group that has joined.
    pub fn groups(&self) -> impl Iterator<Item = GroupId> {
        self.groups.iter().copied()
    }

    pub(super) fn record(&mut self, page: &Entry) {
        if self.pages.learn(page) {
            self.version += 1;
        }
    }

    pub(super) fn join(&mut self, group: GroupId) {
        if self.groups.insert(group).is_none() {
            self.version += 1;
        }
    }
}
