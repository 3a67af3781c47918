//! The queue of buckets that wait for compaction.

use catalog::TableId;
use parking_lot::{Condvar, Mutex};
use sdds::Bound;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// Buckets that wait for compaction.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<QueueState>,
    is_blocked: AtomicBool,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct QueueState {
    waiting: BTreeSet<(TableId, Bound)>,
    /// Buckets that could not be compacted because a snapshot sees their versions.
    blocked: BTreeSet<(TableId, Bound)>,
    closed: bool,
}

impl Queue {
    /// Requests compaction of the bucket of a table that begins at `low`.
    pub(crate) fn request(&self, table: TableId, low: Bound) {
        self.state.lock().waiting.insert((table, low));
        self.changed.notify_one();
    }

    /// Requests compaction for when the horizon has moved.
    pub(crate) fn request_later(&self, table: TableId, low: Bound) {
        self.state.lock().blocked.insert((table, low));
        self.is_blocked.store(true, Ordering::Release);
    }

    /// Requests compaction of the buckets that waited for the horizon. To be called when the oldest
    /// snapshot is dropped.
    pub(crate) fn horizon_moved(&self) {
        if !self.is_blocked.swap(false, Ordering::AcqRel) {
            return;
        }
        let mut state = self.state.lock();
        let blocked = std::mem::take(&mut state.blocked);
        state.waiting.extend(blocked);
        self.changed.notify_one();
    }

    /// Ends the background thread.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// Returns the next bucket, if there is one.
    pub(crate) fn try_next(&self) -> Option<(TableId, Bound)> {
        self.state.lock().waiting.pop_first()
    }

    /// Waits for the next bucket; returns `None` when the queue is closed.
    pub(crate) fn next(&self) -> Option<(TableId, Bound)> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(next) = state.waiting.pop_first() {
                return Some(next);
            }
            self.changed.wait(&mut state);
        }
    }
}
