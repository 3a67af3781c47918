//! What a group owns, and what it has given away recently.
//!
//! Ownership changes in three steps, so that at every moment a group answers for the keys:
//!
//! ```text
//!  here:    Owned ──release──> Leaving ──adopted──> Given ──recorded──> Elsewhere
//!  there:                 adopt ──> Owned
//! ```
//!
//! While keys are leaving, requests for them wait. After they are given, the group knows the new
//! owner and forwards requests to it until the level above knows it, too. Then they are forgotten:
//! a group only remembers what it owns and what is being transferred, not what it once had.
//!
//! The epoch increases with each release, so of two groups with information about a key, the one
//! with the higher epoch is right. A territory of rows has no content, one of the directory has its
//! pages.

use super::{Entry, Owner};
use crate::{Epoch, GroupId, KeyRange, Partition};

/// A group's relation to some keys.
#[derive(Debug, Clone)]
pub enum Standing<C> {
    /// None; the directory knows more.
    Elsewhere,
    /// The owner.
    Owned {
        /// The epoch of the ownership.
        epoch: Epoch,
        /// The content of the keys.
        content: C,
    },
    /// The previous owner; the new one has not confirmed the adoption.
    Leaving {
        /// The new owner, with its epoch.
        to: Owner,
    },
    /// The previous owner; the level above does not know the new one yet.
    Given {
        /// The new owner, with its epoch.
        to: Owner,
    },
}

/// A group's relation to every key.
#[derive(Debug, Clone)]
pub struct Territory<C: Clone> {
    tiles: Partition<Standing<C>>,
}

impl<C: Clone> Territory<C> {
    /// The territory of a group that owns nothing.
    pub fn nothing() -> Self {
        Self { tiles: Partition::new(Standing::Elsewhere) }
    }

    /// The territory of the first owner.
    pub fn everything(content: C) -> Self {
        Self { tiles: Partition::new(Standing::Owned { epoch: Epoch::FIRST, content }) }
    }

    /// The tiles that overlap a range, in order; the outer ones may extend beyond it.
    pub fn cover<'a>(
        &'a self,
        range: &'a KeyRange,
    ) -> impl Iterator<Item = (KeyRange, &'a Standing<C>)> {
        self.tiles.cover(range)
    }

    /// Whether a whole range is owned, as part of one tile.
    pub fn owns(&self, range: &KeyRange) -> bool {
        matches!(self.tiles.holder(range), Some(Standing::Owned { .. }))
    }

    /// Whether every key of a range is owned, in any number of tiles.
    pub fn owns_all(&self, range: &KeyRange) -> bool {
        self.tiles.cover(range).all(|(_, standing)| matches!(standing, Standing::Owned { .. }))
    }

    /// The tile in which a whole range is owned, and its epoch.
    pub fn owner_of(&self, range: &KeyRange) -> Option<(KeyRange, Epoch)> {
        let (tile, standing) = self.tiles.at(&range.low);
        match standing {
            Standing::Owned { epoch, .. } if range.high <= tile.high => Some((tile, *epoch)),
            _ => None,
        }
    }

    /// The owned tiles that overlap a range, in order.
    pub fn owned(&self, range: &KeyRange) -> Vec<(KeyRange, Epoch)> {
        let tiles = self.tiles.cover(range);
        let owned = tiles.filter_map(|(tile, standing)| match standing {
            Standing::Owned { epoch, .. } => Some((tile, *epoch)),
            _ => None,
        });
        owned.collect()
    }

    /// Releases a range to another group. Returns the new owner with its epoch; `None` if some of
    /// the range is not owned.
    pub(super) fn release(&mut self, range: &KeyRange, to: GroupId) -> Option<Owner> {
        let mut newest = Epoch::FIRST;
        for (_, standing) in self.tiles.cover(range) {
            let Standing::Owned { epoch, .. } = standing else { return None };
            newest = newest.max(*epoch);
        }
        let to = Owner { group: to, epoch: newest.next() };
        self.tiles.assign(range, Standing::Leaving { to });
        Some(to)
    }

    /// Becomes the owner of a range, as one tile.
    pub(super) fn adopt(&mut self, range: &KeyRange, epoch: Epoch, content: C) {
        self.tiles.assign(range, Standing::Owned { epoch, content });
    }

    /// Records that the new owner has adopted a range. Returns the entries for the level above.
    pub(super) fn adopted(&mut self, range: &KeyRange, epoch: Epoch) -> Vec<Entry> {
        let leaving = self.matching(range, |standing| match standing {
            Standing::Leaving { to } if to.epoch == epoch => Some(*to),
            _ => None,
        });
        for entry in &leaving {
            self.tiles.assign(&entry.range, Standing::Given { to: entry.owner });
        }
        leaving
    }

    /// Forgets keys that the level above has recorded: those given away at an epoch or before.
    pub(super) fn recorded(&mut self, range: &KeyRange, epoch: Epoch) {
        let given = self.matching(range, |standing| match standing {
            Standing::Given { to } if to.epoch <= epoch => Some(*to),
            _ => None,
        });
        given.into_iter().for_each(|entry| self.forget(entry.range));
    }

    /// Forgets what is owned, or being transferred, at an epoch before this one.
    pub(super) fn forget_before(&mut self, epoch: Epoch) {
        let old: Vec<KeyRange> = self
            .tiles
            .iter()
            .filter(|(_, standing)| match standing {
                Standing::Elsewhere => false,
                Standing::Owned { epoch: of, .. } => *of < epoch,
                Standing::Leaving { to } | Standing::Given { to } => to.epoch < epoch,
            })
            .map(|(range, _)| range)
            .collect();
        old.into_iter().for_each(|range| self.forget(range));
    }

    /// The entries of a range that were given away and are not recorded yet.
    pub(super) fn given(&self, range: &KeyRange) -> Vec<Entry> {
        self.matching(range, |standing| match standing {
            Standing::Given { to } => Some(*to),
            _ => None,
        })
    }

    /// The contents of the owned tiles.
    pub(super) fn contents(&self) -> impl Iterator<Item = &C> {
        self.tiles.iter().filter_map(|(_, standing)| match standing {
            Standing::Owned { content, .. } => Some(content),
            _ => None,
        })
    }

    /// Bytes of the tiles, without what contents point to.
    pub(super) fn bytes(&self) -> usize {
        self.tiles.bytes()
    }

    /// Whether nothing is owned or being transferred.
    pub fn is_empty(&self) -> bool {
        self.tiles.len() == 1 && matches!(self.tiles.iter().next(), Some((_, Standing::Elsewhere)))
    }

    fn matching(
        &self,
        range: &KeyRange,
        wanted: impl Fn(&Standing<C>) -> Option<Owner>,
    ) -> Vec<Entry> {
        let tiles = self.tiles.cover(range);
        let found = tiles.filter_map(|(tile, standing)| {
            Some(Entry { range: tile.intersect(range)?, owner: wanted(standing)? })
        });
        found.collect()
    }

    /// Merges a range with its neighbors of state `Elsewhere`.
    fn forget(&mut self, range: KeyRange) {
        self.tiles.assign(&range, Standing::Elsewhere);
        let mut unknown = range.clone();
        if let Some((before, Standing::Elsewhere)) = self.tiles.next_before(&range.low) {
            unknown.low = before.low;
        }
        if let Some((after, Standing::Elsewhere)) = self.tiles.next_after(&range.low) {
            unknown.high = after.high;
        }
        if unknown != range {
            self.tiles.assign(&unknown, Standing::Elsewhere);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Key};

    fn range(low: u8, high: u8) -> KeyRange {
        let at = |byte: u8| Bound::At(Key::from(&[byte][..]));
        KeyRange::new(at(low), at(high)).expect("not empty")
    }

    #[test]
    fn what_has_been_given_away_and_recorded_leaves_no_trace() {
        let mut territory = Territory::nothing();
        territory.adopt(&range(0, 9), Epoch(3), ());
        for part in [range(3, 6), range(0, 3), range(6, 9)] {
            let to = territory.release(&part, GroupId(7)).expect("owned");
            assert_eq!(to.epoch, Epoch(4));
            assert_eq!(territory.adopted(&part, to.epoch).len(), 1);
            territory.recorded(&part, to.epoch);
        }
        assert!(territory.is_empty());
    }

    #[test]
    fn late_news_of_an_earlier_change_of_hands_change_nothing() {
        let mut territory = Territory::everything(());
        let first = territory.release(&range(3, 6), GroupId(7)).expect("owned");
        territory.adopt(&range(3, 6), first.epoch.next(), ());
        assert!(territory.adopted(&range(3, 6), first.epoch).is_empty());
        territory.recorded(&range(3, 6), first.epoch);
        assert_eq!(territory.owner_of(&range(4, 5)), Some((range(3, 6), Epoch(3))));
    }

    #[test]
    fn only_what_is_owned_is_released_and_the_new_epoch_is_above_every_old_one() {
        let mut territory = Territory::nothing();
        territory.adopt(&range(0, 3), Epoch(2), ());
        territory.adopt(&range(3, 6), Epoch(5), ());
        assert!(territory.release(&range(0, 9), GroupId(7)).is_none());
        let to = territory.release(&range(1, 5), GroupId(7)).expect("owned");
        assert_eq!(to, Owner { group: GroupId(7), epoch: Epoch(6) });
    }
}
