//! Routing: the next hop for the keys of a range, as known to one server.
//!
//! A server knows exactly what it owns and what it has given away recently. For anything else it
//! asks the directory: the page, if it keeps it or has just given it away, and otherwise the root,
//! which knows the keeper of the page. Each hop has newer information than the previous one, so
//! routes terminate.

use super::Server;
use crate::directory::{Entry, Image, Owner, Standing};
use crate::{Epoch, GroupId, KeyRange};

/// The action for the keys of a part of a range.
#[derive(Debug)]
pub(super) enum Step {
    /// They are owned here, as this entry records.
    Here(Entry),
    /// They are being transferred: wait.
    Wait,
    /// This group knows more.
    To(GroupId),
    /// According to a page that is kept here, this group owns them.
    Listed(GroupId, Page),
}

/// A directory page and its keys.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) range: KeyRange,
    pub(super) entries: Image,
}

/// Parts of a range in order, with the action for each.
pub(super) type Steps = Vec<(KeyRange, Step)>;

/// The route for the keys of a part of a range, for callers that forward requests themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// They are owned here.
    Here,
    /// They are being transferred to another group: ask again when they have arrived.
    Wait,
    /// This group knows more.
    To {
        /// The group to ask.
        group: GroupId,
        /// All entries of the page that says so, if it is kept here.
        page: Vec<Entry>,
    },
}

impl<O> Server<O> {
    /// The routes for a range's keys, in order.
    pub fn ways(&self, range: &KeyRange) -> Vec<(KeyRange, Way)> {
        let way = |step| match step {
            Step::Here(_) => Way::Here,
            Step::Wait => Way::Wait,
            Step::To(group) => Way::To { group, page: Vec::new() },
            Step::Listed(group, page) => Way::To { group, page: page.entries.cover(&page.range) },
        };
        self.route(range).into_iter().map(|(part, step)| (part, way(step))).collect()
    }

    /// The steps of a request.
    pub(super) fn route(&self, range: &KeyRange) -> Steps {
        let mut steps = Vec::new();
        for (tile, standing) in self.rows.cover(range) {
            let Some(part) = tile.intersect(range) else { continue };
            match standing {
                Standing::Owned { epoch, .. } => {
                    steps.push((part, Step::Here(self.entry(tile, *epoch))));
                }
                Standing::Leaving { .. } => steps.push((part, Step::Wait)),
                Standing::Given { to } => steps.push((part, Step::To(to.group))),
                Standing::Elsewhere => self.look_up(&part, &mut steps),
            }
        }
        steps.dedup_by(|(next, step), (last, last_step)| match (&*last_step, &*step) {
            (Step::To(a), Step::To(b)) if a == b => {
                last.high = next.high.clone();
                true
            }
            _ => false,
        });
        steps
    }

    /// The entry for keys that are owned here.
    pub(super) fn entry(&self, range: KeyRange, epoch: Epoch) -> Entry {
        Entry { range, owner: Owner { group: self.group, epoch } }
    }

    /// Adds the steps for the entries of a directory page: to the owners if the page is kept here,
    /// otherwise to its keeper.
    fn look_up(&self, range: &KeyRange, steps: &mut Steps) {
        for (part, step) in self.route_to_pages(range) {
            let Step::Listed(_, page) = step else {
                steps.push((part, step));
                continue;
            };
            for entry in page.entries.cover(&part) {
                let page = Page { range: page.range.clone(), entries: page.entries.clone() };
                steps.push((entry.range, Step::Listed(entry.owner.group, page)));
            }
        }
    }

    /// The steps to the keepers of the pages of a range; `Listed` means pages that are kept here.
    pub(super) fn route_to_pages(&self, range: &KeyRange) -> Steps {
        let mut steps = Vec::new();
        for (tile, standing) in self.pages.cover(range) {
            let Some(part) = tile.intersect(range) else { continue };
            match standing {
                Standing::Owned { content, .. } => {
                    let page = Page { range: tile, entries: content.clone() };
                    steps.push((part, Step::Listed(self.group, page)));
                }
                Standing::Leaving { .. } => steps.push((part, Step::Wait)),
                Standing::Given { to } => steps.push((part, Step::To(to.group))),
                Standing::Elsewhere => {
                    let keepers = self.root.pages().cover(&part).into_iter();
                    steps.extend(keepers.map(|page| (page.range, Step::To(page.owner.group))));
                }
            }
        }
        steps
    }
}
