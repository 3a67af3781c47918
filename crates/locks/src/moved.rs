//! Where rows have gone whose keys transactions have changed.
//!
//! A statement that has chosen a row waits for the transaction that changes it, and goes on with the row's new version.
//! If that has another key, this says which one. Only the latest changes are known: a statement that waits while very many
//! keys change may lose its row.
//!
//! A change of a transaction that has not committed, or of a row that is gone, does no harm: there is no row with the new
//! key, or it is one that the statement has to choose, too.

use sdds::Key;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// So many changes are known.
const MOVES_MAX: usize = 1 << 16;

/// Changes of keys.
#[derive(Debug, Default)]
pub struct Moved {
    /// The new keys, by the table, the old key and the number of the change.
    new_keys: BTreeMap<(u32, Key, u64), Key>,
    /// The same changes in their order, without the new keys.
    order: VecDeque<(u32, Key, u64)>,
    /// The number of the last change. Keys that change at once have the same one.
    number: u64,
}

impl Moved {
    /// Whether no key has changed.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Notes that rows of a table have got new keys, all at once.
    pub fn note(&mut self, table: u32, moves: impl IntoIterator<Item = (Key, Key)>) {
        self.number += 1;
        for (old, new) in moves {
            if old != new {
                self.put((table, old, self.number), new);
            }
        }
    }

    /// The number of the last change, for [`Self::forget_after`].
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Forgets the changes after the one of a number: they are undone.
    pub fn forget_after(&mut self, number: u64) {
        while self.order.back().is_some_and(|(_, _, of)| *of > number) {
            if let Some(undone) = self.order.pop_back() {
                self.new_keys.remove(&undone);
            }
        }
        self.number = self.number.min(number);
    }

    /// Adds changes that have happened later.
    pub fn append(&mut self, later: Self) {
        let Self { mut new_keys, order, number } = later;
        for change in order {
            if let Some(new) = new_keys.remove(&change) {
                let (table, old, number) = change;
                self.put((table, old, self.number + number), new);
            }
        }
        self.number += number;
    }

    fn put(&mut self, change: (u32, Key, u64), new: Key) {
        self.order.push_back(change.clone());
        self.new_keys.insert(change, new);
        if self.order.len() > MOVES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.new_keys.remove(&oldest);
        }
    }

    /// Adds to keys of a table those that their rows have got, one after the other.
    pub fn follow(&self, table: u32, keys: &mut BTreeSet<Key>) {
        if self.is_empty() {
            return;
        }
        let mut next: BTreeSet<(u64, Key)> =
            keys.iter().flat_map(|key| self.since(table, key, 0)).collect();
        // In the order of the changes, so that a key is reached by the first that leads to it.
        while let Some((number, key)) = next.pop_first() {
            if !keys.contains(&key) {
                next.extend(self.since(table, &key, number));
                keys.insert(key);
            }
        }
    }

    /// The keys that a key has been changed to after a change, each with the number of its change.
    fn since(&self, table: u32, key: &Key, number: u64) -> impl Iterator<Item = (u64, Key)> {
        let of = |number| (table, key.clone(), number);
        let changes = self.new_keys.range(of(number + 1)..=of(u64::MAX));
        changes.map(|((_, _, number), new)| (*number, new.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::from(name.as_bytes())
    }

    fn moved(changes: &[&[(&str, &str)]]) -> Moved {
        let mut moved = Moved::default();
        for change in changes {
            moved.note(1, change.iter().map(|(old, new)| (key(old), key(new))));
        }
        moved
    }

    fn followed(moved: &Moved, from: &str) -> Vec<Key> {
        let mut keys = BTreeSet::from([key(from)]);
        moved.follow(1, &mut keys);
        keys.into_iter().collect()
    }

    #[test]
    fn rows_are_followed_through_several_changes() {
        let moved = moved(&[&[("a", "b")], &[("b", "c"), ("x", "y")]]);
        assert_eq!(followed(&moved, "a"), [key("a"), key("b"), key("c")]);
        assert_eq!(followed(&moved, "x"), [key("x"), key("y")]);
        assert_eq!(followed(&moved, "z"), [key("z")]);
    }

    #[test]
    fn keys_that_change_at_once_are_not_followed_to_one_another() {
        let moved = moved(&[&[("a", "b"), ("b", "c")]]);
        assert_eq!(followed(&moved, "a"), [key("a"), key("b")]);
    }

    #[test]
    fn rows_that_come_back_are_followed_to_an_end() {
        let moved = moved(&[&[("a", "b")], &[("b", "a")], &[("a", "b")]]);
        assert_eq!(followed(&moved, "a"), [key("a"), key("b")]);
    }

    #[test]
    fn earlier_changes_of_a_key_are_not_those_of_the_row() {
        let moved = moved(&[&[("b", "c")], &[("a", "b")]]);
        assert_eq!(followed(&moved, "a"), [key("a"), key("b")]);
    }

    #[test]
    fn changes_of_a_transaction_come_behind_those_before() {
        let mut all = moved(&[&[("a", "b")]]);
        all.append(moved(&[&[("b", "c")], &[("c", "d")]]));
        assert_eq!(followed(&all, "a"), [key("a"), key("b"), key("c"), key("d")]);
    }

    #[test]
    fn undone_changes_are_not_followed() {
        let mut moved = moved(&[&[("a", "b")]]);
        let before = moved.number();
        moved.note(1, [(key("b"), key("c")), (key("x"), key("y"))]);
        moved.note(1, [(key("c"), key("d"))]);
        moved.forget_after(before);
        assert_eq!(followed(&moved, "a"), [key("a"), key("b")]);
        assert_eq!(followed(&moved, "x"), [key("x")]);
        moved.note(1, [(key("b"), key("e"))]);
        assert_eq!(followed(&moved, "a"), [key("a"), key("b"), key("e")]);
        moved.forget_after(moved.number());
        assert_eq!(followed(&moved, "b"), [key("b"), key("e")], "what is before stays");
        moved.forget_after(0);
        assert!(moved.is_empty());
        assert!(moved.new_keys.is_empty());
    }

    #[test]
    fn changes_before_undone_ones_are_told() {
        let mut own = moved(&[&[("a", "b")], &[("b", "c")]]);
        own.forget_after(1);
        own.note(1, [(key("b"), key("d"))]);
        let mut all = moved(&[&[("x", "a")]]);
        all.append(own);
        assert_eq!(followed(&all, "x"), [key("a"), key("b"), key("d"), key("x")]);
    }

    #[test]
    fn the_oldest_changes_are_forgotten() {
        let mut moved = moved(&[&[("a", "b")]]);
        for number in 0..MOVES_MAX {
            moved.note(2, [(key(&number.to_string()), key("new"))]);
        }
        assert_eq!(followed(&moved, "a"), [key("a")]);
        assert_eq!(moved.new_keys.len(), MOVES_MAX);
    }
}
