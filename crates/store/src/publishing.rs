//! Publishes commits in the order of the log, each when it is as durable as promised: what a reader
//! has seen is never taken back by a crash.
//!
//! A commit is applied at once, above everything that readers see, and its state waits here. The
//! journal says how far it is durable.

use crate::holds::{HoldId, Holds};
use crate::snapshot::{Published, Snapshots};
use journal::Position;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// States that wait until they are durable.
#[derive(Debug)]
pub(crate) struct Publisher {
    snapshots: Arc<Snapshots>,
    holds: Arc<Holds>,
    state: Mutex<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    durable: Position,
    /// In the order of the log.
    heads: VecDeque<(Position, Arc<Published>)>,
    /// Holds of commits that are not published yet.
    held: Vec<(Position, HoldId)>,
}

impl Publisher {
    /// Begins after a position that is durable.
    pub(crate) fn new(
        snapshots: Arc<Snapshots>,
        holds: Arc<Holds>,
        durable: Position,
    ) -> Arc<Self> {
        let state = Mutex::new(Waiting { durable, heads: VecDeque::new(), held: Vec::new() });
        Arc::new(Self { snapshots, holds, state })
    }

    /// Releases the hold of a commit when it is published: whoever waits for it must see the commit.
    pub(crate) fn release_after(&self, position: Position, hold: HoldId) {
        let mut waiting = self.state.lock();
        if position > waiting.durable {
            waiting.held.push((position, hold));
            return;
        }
        drop(waiting);
        self.holds.release(hold);
    }

    /// Publishes a state when everything up to a position is durable.
    pub(crate) fn submit(&self, position: Position, head: &Arc<Published>) {
        let mut waiting = self.state.lock();
        if position <= waiting.durable {
            debug_assert!(waiting.heads.is_empty(), "heads are submitted in order");
            self.snapshots.publish(Arc::clone(head));
        } else {
            waiting.heads.push_back((position, Arc::clone(head)));
        }
    }

    /// Publishes what waits for a position that is durable now.
    pub(crate) fn advance(&self, durable: Position) {
        let mut waiting = self.state.lock();
        waiting.durable = durable;
        let mut last = None;
        while let Some((_, head)) = waiting.heads.pop_front_if(|(at, _)| *at <= durable) {
            last = Some(head);
        }
        if let Some(head) = last {
            self.snapshots.publish(head);
        }
        let released: Vec<_> = waiting.held.extract_if(.., |(at, _)| *at <= durable).collect();
        drop(waiting);
        released.into_iter().for_each(|(_, hold)| self.holds.release(hold));
    }
}
