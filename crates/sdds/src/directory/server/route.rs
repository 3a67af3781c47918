//! Where the keys of a range are to be had, as far as one server knows.
//!
//! A server knows exactly what it owns and what it has given away a moment ago. For anything else it
//! asks the directory: the page, where it keeps it or has just given it away, and the root, which knows the
//! keeper. Each step leads to somebody with newer knowledge, so that ways end.

use super::Server;
use crate::directory::{Entry, Image, Owner, Standing};
use crate::{Epoch, GroupId, KeyRange};

/// What to do with the keys of one part of a range.
#[derive(Debug)]
pub(super) enum Step {
    /// They are ours, as this entry says.
    Here(Entry),
    /// They are on their way: wait.
    Wait,
    /// That group knows more.
    To(GroupId),
    /// That group owns them, says a page that we keep.
    Listed(GroupId, Page),
}

/// A page of the directory, and the keys that it is about.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) range: KeyRange,
    pub(super) entries: Image,
}

/// Parts of a range in order, with what to do with each.
pub(super) type Steps = Vec<(KeyRange, Step)>;

/// Where the keys of a part of a range are to be had, for whoever carries requests itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// They are ours.
    Here,
    /// They are on their way to another group: ask again when they have arrived.
    Wait,
    /// That group knows more.
    To {
        /// Whom to ask.
        group: GroupId,
        /// Where a page that we keep says so: all that it says.
        page: Vec<Entry>,
    },
}

impl<O> Server<O> {
    /// The ways of a range's keys, in order.
    pub fn ways(&self, range: &KeyRange) -> Vec<(KeyRange, Way)> {
        let way = |step| match step {
            Step::Here(_) => Way::Here,
            Step::Wait => Way::Wait,
            Step::To(group) => Way::To { group, page: Vec::new() },
            Step::Listed(group, page) => Way::To { group, page: page.entries.cover(&page.range) },
        };
        self.route(range).into_iter().map(|(part, step)| (part, way(step))).collect()
    }

    /// The way of a request.
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

    /// What we say about keys that are ours.
    pub(super) fn entry(&self, range: KeyRange, epoch: Epoch) -> Entry {
        Entry { range, owner: Owner { group: self.group, epoch } }
    }

    /// The way of what a directory page says about a range: through its owners, if we keep it, to its keeper
    /// otherwise.
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

    /// The way to whoever keeps the pages of a range; `Listed` here are those that we keep.
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
