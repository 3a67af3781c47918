//! Which rows a statement has chosen to change: if it is executed again, it changes no others.

use crate::Moved;
use sdds::{Key, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A statement is executed again at most so many times. Each time it holds a row more for which it has
/// waited.
const AGAIN_MAX: u32 = 10_000;

/// The rows of tables that a statement has chosen to change. Tables have numbers.
#[derive(Debug, Default)]
pub struct Chosen {
    keys: BTreeMap<u32, BTreeSet<Key>>,
    /// The tables whose rows have all been chosen. An execution that fails before leaves none.
    complete: BTreeSet<u32>,
    /// How many times the statement has been executed again.
    again: u32,
    /// Whether others have chosen rows, whose keys are not known here.
    elsewhere: bool,
    /// Whether the statement only chooses rows now.
    only: bool,
    /// Whether the statement is executed again, and changes no others.
    is_final: bool,
}

impl Chosen {
    /// Begins the statement again: it changes none but the rows that it has chosen. Returns false if it has been
    /// executed too often.
    pub fn again(&mut self) -> bool {
        let Self { keys, complete, is_final, .. } = self;
        keys.retain(|table, _| complete.contains(table));
        *is_final = !complete.is_empty();
        self.again += 1;
        self.again <= AGAIN_MAX
    }

    /// Chooses the rows also where they have got other keys since a snapshot: that of the last execution.
    pub fn follow(&mut self, moved: &Moved, snapshot: Timestamp) {
        for (table, keys) in &mut self.keys {
            moved.follow(*table, keys, snapshot);
        }
    }

    /// Remembers that others choose which rows to change.
    pub fn choose_elsewhere(&mut self) {
        self.elsewhere = true;
    }

    /// Whether the statement has to choose its rows here: it is executed again, or only to choose them.
    pub fn is_here(&self) -> bool {
        self.is_final || self.only
    }

    /// Begins the statement again, only to choose its rows, if others have chosen them. Returns whether it does.
    pub fn choose_only(&mut self) -> bool {
        self.only = std::mem::take(&mut self.elsewhere) && !self.is_final;
        self.only
    }

    /// Notes that all rows of a table have been chosen. Returns false if the statement only chooses rows.
    pub fn is_to_go_on(&mut self, table: u32) -> bool {
        self.complete.insert(table);
        !self.only
    }

    /// Remembers which rows of a table are chosen.
    pub fn choose<'a>(&mut self, table: u32, keys: impl IntoIterator<Item = &'a Key>) {
        if !self.is_final {
            self.keys.entry(table).or_default().extend(keys.into_iter().cloned());
        }
    }

    /// Whether the statement may change a row: not if it had not chosen the row when it was executed first.
    pub fn contains(&self, table: u32, key: &Key) -> bool {
        let chosen = self.keys.get(&table).filter(|_| self.is_final);
        chosen.is_none_or(|keys| keys.contains(key))
    }
}
