//! How far a backup or a restore is.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far a backup or a restore is. It can be read while one goes on.
#[derive(Debug, Default)]
pub struct Progress {
    rows: AtomicU64,
    total: AtomicU64,
}

impl Progress {
    /// Returns the number of rows that are done.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Returns the number of all rows; 0 while it is unknown. It may be an estimate.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    pub(crate) fn expect(&self, rows: u64) {
        self.total.fetch_add(rows, Ordering::Relaxed);
    }

    pub(crate) fn advance(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
    }
}
