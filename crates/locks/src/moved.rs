//! Where rows have gone whose keys transactions have changed.
//!
//! A statement that has chosen a row waits for the transaction that changes it, and goes on with the row's new version.
//! If that has another key, this says which one. Only the latest changes are known: a statement that waits while very many
//! keys change may lose its row.
//!
//! A change that the statement's snapshot has is one of another row, which has had the key before. Transactions tell their
//! changes before they commit, and when they have committed afterwards. Until then a change does no harm: there is no row
//! with the new key, or it is one that the statement has to choose, too.

use sdds::{Key, Timestamp};
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
    /// When transactions have committed, by the number of the last change of each; `None` if that is not known.
    commits: BTreeMap<u64, Option<Timestamp>>,
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

    /// Adds the changes of a transaction that is about to commit. Returns their number, for [`Self::committed`].
    pub fn append(&mut self, later: Self) -> u64 {
        let Self { mut new_keys, order, number, .. } = later;
        for change in order {
            if let Some(new) = new_keys.remove(&change) {
                let (table, old, number) = change;
                self.put((table, old, self.number + number), new);
            }
        }
        self.number += number;
        self.commits.insert(self.number, None);
        self.number
    }

    /// Notes when a transaction has committed: at [`Timestamp::ZERO`] if it never will.
    pub fn committed(&mut self, number: u64, at: Timestamp) {
        if let Some(commit) = self.commits.get_mut(&number) {
            *commit = Some(at);
        }
    }

    fn put(&mut self, change: (u32, Key, u64), new: Key) {
        self.order.push_back(change.clone());
        self.new_keys.insert(change, new);
        if self.order.len() > MOVES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.new_keys.remove(&oldest);
            self.forget_commits();
        }
    }

    /// Forgets the commits of changes that are not known any more.
    fn forget_commits(&mut self) {
        let Some((_, _, oldest)) = self.order.front() else { return };
        while let Some(commit) = self.commits.first_entry()
            && commit.key() < oldest
        {
            commit.remove();
        }
    }

    /// Adds to keys of a table, which rows have in a snapshot, those that the rows have got since, one after the other.
    pub fn follow(&self, table: u32, keys: &mut BTreeSet<Key>, snapshot: Timestamp) {
        if self.is_empty() {
            return;
        }
        let mut next: BTreeSet<(u64, Key)> =
            keys.iter().flat_map(|key| self.since(table, key, 0, snapshot)).collect();
        // In the order of the changes, so that a key is reached by the first that leads to it.
        while let Some((number, key)) = next.pop_first() {
            if !keys.contains(&key) {
                next.extend(self.since(table, &key, number, snapshot));
                keys.insert(key);
            }
        }
    }

    /// The keys that a key has been changed to after a change, and after a snapshot, each with the number of its change.
    fn since(
        &self,
        table: u32,
        key: &Key,
        number: u64,
        snapshot: Timestamp,
    ) -> impl Iterator<Item = (u64, Key)> {
        let of = |number| (table, key.clone(), number);
        let changes = self.new_keys.range(of(number + 1)..=of(u64::MAX));
        let later = changes.filter(move |((_, _, number), _)| !self.is_in(*number, snapshot));
        later.map(|((_, _, number), new)| (*number, new.clone()))
    }

    /// Whether a snapshot is known to have a change, or nobody will.
    fn is_in(&self, number: u64, snapshot: Timestamp) -> bool {
        let commit = self.commits.range(number..).next();
        commit.and_then(|(_, at)| *at).is_some_and(|at| at <= snapshot)
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
        followed_since(moved, from, Timestamp::ZERO)
    }

    fn followed_since(moved: &Moved, from: &str, snapshot: Timestamp) -> Vec<Key> {
        let mut keys = BTreeSet::from([key(from)]);
        moved.follow(1, &mut keys, snapshot);
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
    fn changes_that_a_snapshot_has_are_not_followed() {
        let mut all = Moved::default();
        let first = all.append(moved(&[&[("a", "b")], &[("b", "c")]]));
        let second = all.append(moved(&[&[("a", "d")]]));
        let at = |all: &Moved, snapshot| followed_since(all, "a", Timestamp(snapshot));
        let every = [key("a"), key("b"), key("c"), key("d")];
        assert_eq!(at(&all, 9), every, "nothing is known of their commits");
        all.committed(first, Timestamp(5));
        assert_eq!(at(&all, 4), every);
        assert_eq!(at(&all, 5), [key("a"), key("d")]);
        all.committed(second, Timestamp(7));
        assert_eq!(at(&all, 4), every);
        assert_eq!(at(&all, 6), [key("a"), key("d")]);
        assert_eq!(at(&all, 7), [key("a")]);
    }

    #[test]
    fn refused_changes_are_not_followed() {
        let mut all = Moved::default();
        let refused = all.append(moved(&[&[("a", "b")]]));
        let done = all.append(moved(&[&[("a", "c")]]));
        all.committed(refused, Timestamp::ZERO);
        all.committed(done, Timestamp(1));
        assert_eq!(followed(&all, "a"), [key("a"), key("c")]);
    }

    #[test]
    fn commits_are_forgotten_with_their_changes() {
        let mut all = Moved::default();
        for number in 0..MOVES_MAX + 10 {
            let name = number.to_string();
            let number = all.append(moved(&[&[(name.as_str(), "new")]]));
            all.committed(number, Timestamp(number));
        }
        assert_eq!(all.new_keys.len(), MOVES_MAX);
        assert_eq!(all.commits.len(), MOVES_MAX);
        let newest = (MOVES_MAX + 9).to_string();
        let number = all.number();
        assert_eq!(followed_since(&all, &newest, Timestamp(number)), [key(&newest)]);
        let before = followed_since(&all, &newest, Timestamp(number - 1));
        assert_eq!(before, [key(&newest), key("new")]);
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
