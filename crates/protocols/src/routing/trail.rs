//! What a request has met on its way from server to server.
//!
//! A coordinator uses its image and is corrected. A server that works for another uses the directory alone, forwards what it
//! does not own, and collects entries for the coordinator's image.

use super::Parts;
use sdds::directory::Entry;
use sdds::{GroupId, KeyRange};

/// Maximum number of entries of an adjustment.
pub const ADJUSTMENT_ENTRIES: usize = 512;

/// After this number of hops all servers are asked. A request that is forwarded even then fails.
pub const HOPS_MAX: u32 = 16;

/// How owners are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// As this server knows them.
    Here,
    /// All servers are asked: what this server knows leads nowhere.
    Everybody,
}

/// Entries for the sender of a request, and how often it was forwarded. `T` names a table.
#[derive(Debug)]
pub struct Trail<T> {
    entries: Vec<(T, Entry)>,
    forwards: u32,
}

impl<T> Default for Trail<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), forwards: 0 }
    }
}

impl<T: Copy + PartialEq> Trail<T> {
    /// Adds entries for the sender of the request, each once, as many as an adjustment has.
    pub fn tell(&mut self, table: T, entries: Vec<Entry>) {
        for entry in entries {
            let entry = (table, entry);
            if self.entries.len() < ADJUSTMENT_ENTRIES && !self.entries.contains(&entry) {
                self.entries.push(entry);
            }
        }
        assert!(self.entries.len() <= ADJUSTMENT_ENTRIES, "an adjustment has a limit");
    }

    /// Counts forwards.
    pub fn count(&mut self, forwards: u32) {
        self.forwards += forwards;
    }

    /// Removes and returns the entries for the sender of the request, and the number of forwards.
    pub fn take(&mut self) -> (Vec<(T, Entry)>, u32) {
        let Self { entries, forwards } = std::mem::take(self);
        (entries, forwards)
    }

    /// Removes and returns the entries.
    pub fn take_entries(&mut self) -> Vec<(T, Entry)> {
        std::mem::take(&mut self.entries)
    }
}

/// Whether a request that has come `hops` hops, 0 at its coordinator, may be worked on.
pub fn may_go_on(hops: u32) -> bool {
    hops <= HOPS_MAX
}

/// How the owners of keys are found that are in these parts, as far as is known here. `is_gone` says whether a group owns
/// nothing any more.
pub fn search(hops: u32, parts: &Parts, is_gone: impl Fn(GroupId) -> bool) -> Search {
    let leads_nowhere = hops >= HOPS_MAX || parts.iter().any(|(_, group)| is_gone(*group));
    if leads_nowhere { Search::Everybody } else { Search::Here }
}

/// The parts that the sender should learn to be here: the first server that was asked did not know this owner.
pub fn unknown_before(hops: u32, parts: &Parts, here: GroupId) -> Vec<&KeyRange> {
    let own = parts.iter().filter(|(_, group)| hops > 1 && *group == here);
    own.map(|(part, _)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::directory::Owner;
    use sdds::{Bound, Epoch, Key};

    fn entry(number: u16) -> Entry {
        let key = |number: u16| Bound::At(Key::from(&number.to_be_bytes()[..]));
        let range = KeyRange { low: key(number), high: key(number + 1) };
        Entry { range, owner: Owner { group: GroupId(1), epoch: Epoch::FIRST } }
    }

    #[test]
    fn everybody_is_asked_when_what_is_known_leads_nowhere() {
        let parts = vec![(KeyRange::all(), GroupId(1))];
        let look = |hops, gone: u64| search(hops, &parts, |group| group == GroupId(gone));
        assert_eq!([look(0, 2), look(HOPS_MAX - 1, 2)], [Search::Here; 2]);
        assert_eq!([look(0, 1), look(HOPS_MAX, 2)], [Search::Everybody; 2]);
        assert!(may_go_on(HOPS_MAX) && !may_go_on(HOPS_MAX + 1));
        let own = |hops, here| unknown_before(hops, &parts, GroupId(here)).len();
        assert_eq!([own(1, 1), own(2, 1), own(2, 2)], [0, 1, 0]);
    }

    #[test]
    fn an_adjustment_has_each_entry_once_and_not_too_many() {
        let mut trail = Trail::default();
        trail.tell('a', vec![entry(1), entry(1)]);
        trail.tell('b', vec![entry(1)]);
        trail.count(2);
        assert_eq!(trail.take(), (vec![('a', entry(1)), ('b', entry(1))], 2));
        trail.tell('a', (0..600).map(entry).collect());
        assert_eq!(trail.take_entries().len(), ADJUSTMENT_ENTRIES);
        assert_eq!(trail.take(), (Vec::new(), 0));
    }
}
