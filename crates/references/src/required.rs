//! The keys that committed transactions required to have rows.
//!
//! A transaction that inserts a row with a foreign key requires the row that it refers to. Another
//! one that deletes that row, and began before the first has committed, has not seen the new row: it
//! must not commit. So the time of the last requirement is kept for each key. Of what has been
//! forgotten only the newest time is kept, which holds for all keys then.

use bucket::TableWrites;
use catalog::TableId;
use sdds::{Key, Timestamp};
use std::collections::HashMap;

/// The most keys that are kept.
const KEYS_MAX: usize = 1 << 16;

/// When keys were last required.
#[derive(Debug, Default)]
pub struct RequiredKeys {
    keys: HashMap<(TableId, Key), Timestamp>,
    /// The newest time among the keys.
    newest: Timestamp,
    /// Any other key may have been required at this time.
    forgotten: Timestamp,
}

impl RequiredKeys {
    /// Notes the keys that a commit has required.
    pub fn note(&mut self, table: TableId, writes: &TableWrites, at: Timestamp) {
        for key in &writes.required {
            if self.keys.len() >= KEYS_MAX {
                self.forget(self.newest);
            }
            self.newest = self.newest.max(at);
            let last = self.keys.entry((table, key.clone())).or_default();
            *last = at.max(*last);
        }
    }

    /// Forgets all keys; any may have been required at a time.
    pub fn forget(&mut self, at: Timestamp) {
        self.keys.clear();
        self.forgotten = self.forgotten.max(at).max(self.newest);
    }

    /// Returns a key that loses its row by a transaction, and was required after its snapshot.
    pub fn lost<'a>(
        &self,
        table: TableId,
        writes: &'a TableWrites,
        snapshot: Timestamp,
    ) -> Option<&'a Key> {
        let deleted = writes.changes.iter().filter(|(_, row)| row.is_none()).map(|(key, _)| key);
        let mut deleted = deleted.peekable();
        if self.forgotten > snapshot {
            return deleted.next();
        }
        if self.newest <= snapshot {
            return None;
        }
        let is_required = |key: &Key| {
            let last = self.keys.get(&(table, key.clone()));
            last.is_some_and(|last| *last > snapshot)
        };
        deleted.find(|key| is_required(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> Key {
        Key::from(&[byte][..])
    }

    fn requiring(byte: u8) -> TableWrites {
        let mut writes = TableWrites::default();
        writes.required.insert(key(byte));
        writes
    }

    fn deleting(byte: u8) -> TableWrites {
        let mut writes = TableWrites::default();
        writes.put(key(byte), None);
        writes
    }

    #[test]
    fn a_deletion_is_lost_if_its_snapshot_is_older_than_the_requirement() {
        let mut required = RequiredKeys::default();
        let table = TableId(1);
        required.note(table, &requiring(1), Timestamp(10));
        assert_eq!(required.lost(table, &deleting(1), Timestamp(9)), Some(&key(1)));
        assert_eq!(required.lost(table, &deleting(1), Timestamp(10)), None);
        assert_eq!(required.lost(table, &deleting(2), Timestamp(9)), None);
        assert_eq!(required.lost(TableId(2), &deleting(1), Timestamp(9)), None);
    }

    #[test]
    fn what_is_forgotten_counts_for_all_keys() {
        let mut required = RequiredKeys::default();
        let table = TableId(1);
        required.note(table, &requiring(1), Timestamp(10));
        required.forget(Timestamp(5));
        assert_eq!(required.lost(table, &deleting(2), Timestamp(9)), Some(&key(2)));
        assert_eq!(required.lost(table, &deleting(2), Timestamp(10)), None);
    }
}
