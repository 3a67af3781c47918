//! Moving keys with their rows from one server to another, while both serve requests.
//!
//! - `incoming`: moves to this server. `answer`: requests of their sources.
//! - `outgoing`: moves from this server, their pauses and limits. `source`: the protocol of one
//!   move.
//! - `unfinished`: moves from before a restart.
//! - `orders`: moves that the root orders. `colocation`: moves of colocated tables.

mod answer;
mod colocation;
mod incoming;
mod orders;
mod outgoing;
mod source;
mod unfinished;

pub(crate) use answer::answer;
pub(crate) use colocation::follow;
pub(crate) use orders::carry_out;
pub(crate) use source::give;
pub(crate) use unfinished::finish;

use crate::routing::Routing;
use crate::timeouts::TIMEOUTS;
use incoming::IncomingMoves;
use outgoing::OutgoingMoves;
use parking_lot::Mutex;
use sdds::MoveId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use store::Error;

/// The moves from and to this server.
#[derive(Debug)]
pub(crate) struct Moves {
    routing: Arc<Routing>,
    pub(crate) incoming: IncomingMoves,
    pub(crate) outgoing: OutgoingMoves,
    /// The number of the next move from here.
    next: AtomicU64,
    /// When access rates were last averaged.
    accesses_averaged: Mutex<Instant>,
}

impl Moves {
    /// `start` is the number of the start of this server.
    pub(crate) fn new(routing: Arc<Routing>, start: u64) -> Self {
        let now = routing.calls.tasks.now();
        Self {
            incoming: IncomingMoves::new(routing.calls.tasks.clone(), start),
            routing,
            outgoing: OutgoingMoves::default(),
            next: AtomicU64::new((start << 32) + 1),
            accesses_averaged: Mutex::new(now),
        }
    }

    /// Takes the identity of the next move from here.
    fn next_id(&self) -> MoveId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        MoveId { from: self.routing.membership.own_group(), number }
    }

    /// Averages the access rates of buckets, once per period.
    pub(crate) fn average_accesses(&self) {
        let mut last = self.accesses_averaged.lock();
        let now = self.routing.calls.tasks.now();
        let elapsed = now - *last;
        if elapsed >= TIMEOUTS.access_averaging {
            *last = now;
            self.routing.store.average_accesses(elapsed);
        }
    }

    /// Begins a move from here; `None` during another move, after a failed one, and while moves are
    /// paused.
    fn begin(self: &Arc<Self>) -> Option<MoveGuard> {
        let is_paused = self.outgoing.is_backing_off(self.routing.calls.tasks.now())
            || self.routing.membership.list().moves.is_paused;
        if is_paused { None } else { self.begin_now() }
    }

    /// Begins a move from here; `None` during another move.
    fn begin_now(self: &Arc<Self>) -> Option<MoveGuard> {
        self.outgoing.begin().then(|| MoveGuard(Arc::clone(self)))
    }
}

/// A move from this server, which ends on drop.
struct MoveGuard(Arc<Moves>);

impl Drop for MoveGuard {
    fn drop(&mut self) {
        self.0.outgoing.end();
    }
}

/// The error of a move that is tried again later.
fn deferred(reason: impl ToString) -> Error {
    Error::Remote {
        sql_state: "55P03".into(),
        message: reason.to_string(),
        detail: None,
        hint: Some("The move is tried again later.".into()),
    }
}
