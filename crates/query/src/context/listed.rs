//! The prepared statements and cursors of a connection, as `pg_prepared_statements` and `pg_cursors` list them.

use catalog_views::session_context::Entry;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The entries of one connection, in order of creation.
#[derive(Debug, Default)]
pub(crate) struct Listed(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    last: u64,
    entries: BTreeMap<u64, Arc<Entry>>,
}

impl Listed {
    /// The entries.
    pub(crate) fn all(&self) -> Vec<Arc<Entry>> {
        self.0.lock().entries.values().cloned().collect()
    }

    /// Adds an entry. The number that comes back identifies it.
    pub(crate) fn add(&self, entry: Arc<Entry>) -> u64 {
        let mut listed = self.0.lock();
        listed.last += 1;
        let number = listed.last;
        listed.entries.insert(number, entry);
        number
    }

    /// Removes an entry.
    pub(crate) fn remove(&self, number: u64) {
        self.0.lock().entries.remove(&number);
    }
}
