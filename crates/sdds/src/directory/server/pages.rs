//! How the directory records changes, and how it grows (C1).

use super::route::{Page, Step};
use super::{Effect, Server};
use crate::directory::{Entry, Image, Level, Message, Root};
use crate::{Bound, GroupId, KeyRange};

impl<O: Clone> Server<O> {
    /// A previous owner reports that rows have a new owner. An entry may concern several pages.
    pub(super) fn on_record(&mut self, entry: Entry, from: GroupId, effects: &mut Vec<Effect<O>>) {
        for (range, step) in self.route_to_pages(&entry.range) {
            let part = Entry { range, owner: entry.owner };
            match step {
                Step::Listed(_, page) => {
                    let (range, epoch) = (part.range.clone(), part.owner.epoch);
                    self.learn(page, &part, effects);
                    self.tell(from, Message::Recorded { range, epoch }, effects);
                }
                Step::Wait => {
                    self.waiting.push(Message::Record { level: Level::Rows, entry: part, from });
                }
                Step::To(to) => {
                    let message = Message::Record { level: Level::Rows, entry: part, from };
                    effects.push(Effect::Send { to, message });
                }
                Step::Here(_) => unreachable!("a way to a page does not end at rows"),
            }
        }
    }

    /// A page has a new keeper; handled by the root group.
    pub(super) fn on_record_of_page(
        &mut self,
        page: &Entry,
        from: GroupId,
        effects: &mut Vec<Effect<O>>,
    ) {
        if self.root.group() == self.group {
            self.root.record(page);
            self.tell(from, Message::Root(self.root.clone()), effects);
        }
    }

    /// A new version of the root. Transfers of pages that it records are forgotten.
    pub(super) fn on_root(&mut self, root: Root) {
        if root.version() > self.root.version() {
            self.root = root;
        }
        for given in self.pages.given(&KeyRange::all()) {
            for known in self.root.pages().cover(&given.range) {
                self.pages.recorded(&known.range, known.owner.epoch);
            }
        }
    }

    /// Another group has joined; called on the root group. The group starts with [`Server::root`].
    pub fn join(&mut self, group: GroupId) {
        self.root.join(group);
    }

    /// Sends a message to a group, which may be this one.
    pub(super) fn tell(&mut self, to: GroupId, message: Message<O>, effects: &mut Vec<Effect<O>>) {
        if to == self.group {
            self.handle(message, effects);
        } else {
            effects.push(Effect::Send { to, message });
        }
    }

    /// Adds an entry to a page that is kept here. A full page splits, and its upper half goes to a
    /// group that owns some of its keys.
    fn learn(&mut self, page: Page, entry: &Entry, effects: &mut Vec<Effect<O>>) {
        let Page { range, mut entries } = page;
        let Some((_, epoch)) = self.pages.owner_of(&range) else { return };
        if !entries.learn(entry) {
            return;
        }
        match halves(&range, &entries, self.settings.page_entries) {
            None => self.pages.adopt(&range, epoch, entries),
            Some((lower, upper)) => {
                for half in [&lower, &upper] {
                    self.pages.adopt(half, epoch, entries.within(half));
                }
                // Both halves are pages of this group. The upper one stays if this group owns its
                // first keys, or nobody does.
                let first = entries.cover(&upper).first().map(|entry| entry.owner.group);
                let keeper = first.filter(|group| ![self.group, GroupId::NOBODY].contains(group));
                let _ = keeper.map(|group| self.release(Level::Pages, &upper, group, effects));
            }
        }
    }
}

/// Where a page with too many entries splits.
fn halves(range: &KeyRange, entries: &Image, max: usize) -> Option<(KeyRange, KeyRange)> {
    // An entry may begin before the page or end after it.
    if entries.len() <= max {
        return None;
    }
    let listed = entries.cover(range);
    let middle = listed.get(listed.len() / 2).filter(|_| listed.len() > max.max(1))?;
    match &middle.range.low {
        Bound::At(key) => range.split_at(key),
        Bound::NegInf | Bound::PosInf => None,
    }
}
