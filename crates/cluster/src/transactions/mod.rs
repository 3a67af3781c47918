//! Transactions that read or write on several servers, and their timestamps.
//!
//! - `coordinated`: transactions that this server coordinates. `participants`: parts of other
//!   servers' transactions.
//! - `commit`: the two phases of a commit. `resolve`: participants that learn nothing of the
//!   outcome.
//! - `timestamps`: timestamps from the root. `low_watermark`: which old row versions are still
//!   needed.
//! - `answer`: requests of coordinators.

mod answer;
mod commit;
mod coordinated;
mod low_watermark;
mod participants;
mod resolve;
mod timestamps;

pub(crate) use answer::answer;
pub(crate) use commit::unknown_outcome;
pub(crate) use participants::ended;

use crate::calls::Calls;
use crate::membership::Membership;
use coordinated::CoordinatedTransactions;
use low_watermark::LowWatermark;
use parking_lot::Mutex;
use participants::Participants;
use protocols::planted::{Bug, is_planted};
use sdds::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use store::journal::Position;
use store::{Error, Snapshot, Store, TransactionId};
use timestamps::Timestamps;

/// The state of distributed transactions on this server.
#[derive(Debug)]
pub(crate) struct Transactions {
    membership: Arc<Membership>,
    calls: Arc<Calls>,
    store: Arc<Store>,
    pub(crate) coordinated: CoordinatedTransactions,
    pub(crate) participants: Participants,
    pub(crate) low_watermark: Mutex<LowWatermark>,
    /// Row versions that only snapshots before this need may be gone, on all servers.
    horizon: AtomicU64,
    snapshot_times: Timestamps,
    commit_times: Timestamps,
    next: AtomicU64,
    settling: Mutex<Settling>,
}

/// Up to where the transactions on this server have ended.
#[derive(Debug)]
struct Settling {
    /// All that were committed at or before this have ended here, durably.
    settled: Timestamp,
    /// So have those of this timestamp when the journal is durable up to the position.
    pending: Option<(Timestamp, Position)>,
}

impl Transactions {
    /// `now` is the newest known timestamp, `start` the number of the start of this server.
    pub(crate) fn new(
        membership: Arc<Membership>,
        calls: Arc<Calls>,
        store: Arc<Store>,
        now: Timestamp,
        start: u64,
    ) -> Self {
        let participants = Participants::new(calls.tasks.clone(), Arc::clone(&store));
        let first = if is_planted(Bug::NumberReused) { 1 } else { (start << 40) + 1 };
        Self {
            membership,
            calls,
            store,
            coordinated: CoordinatedTransactions::default(),
            participants,
            low_watermark: Mutex::new(LowWatermark::new(now)),
            horizon: AtomicU64::new(0),
            snapshot_times: Timestamps::of_snapshots(),
            commit_times: Timestamps::of_commits(),
            next: AtomicU64::new(first),
            settling: Mutex::new(Settling { settled: Timestamp::ZERO, pending: None }),
        }
    }

    /// Takes the parts whose outcomes were not known when the server ended.
    pub(crate) fn take_undecided(&self) {
        for (transaction, prepared) in self.store.undecided() {
            self.participants.keep(transaction, prepared);
        }
    }

    /// Up to where the transactions on this server have ended, durably. To be called periodically.
    pub(crate) fn settled(&self) -> Timestamp {
        let Some(journal) = self.store.journal() else { return Timestamp::ZERO };
        let mut settling = self.settling.lock();
        if let Some((timestamp, position)) = settling.pending
            && position <= journal.durable_position()
        {
            settling.settled = settling.settled.max(timestamp);
            settling.pending = None;
        }
        if settling.pending.is_none() {
            // In this order: what was committed until then has ended here, or is held.
            let known = self.low_watermark.lock().known();
            let (oldest, position) = self.store.oldest_undecided();
            settling.pending = Some((oldest.unwrap_or(known).min(known), position));
        }
        settling.settled
    }

    /// The id of a new transaction of this coordinator.
    pub(crate) fn new_id(&self) -> TransactionId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        TransactionId { coordinator: self.membership.here, number }
    }

    /// A timestamp that sees every commit so far.
    async fn now(&self) -> Result<Timestamp, Error> {
        match &self.calls.root {
            Some(root) => Ok(root.now()),
            None => Ok(self.snapshot_times.ask(&self.calls).await?.0),
        }
    }

    /// The commit timestamp of a transaction that has written on this server alone.
    async fn next_commit(&self) -> Result<Timestamp, Error> {
        match &self.calls.root {
            Some(root) => root.next(1),
            None => {
                let (first, place) = self.commit_times.ask(&self.calls).await?;
                Ok(Timestamp(first.0 + u64::from(place)))
            }
        }
    }

    /// A snapshot of everything that is committed on all servers.
    pub(crate) async fn snapshot(&self) -> Result<Snapshot, Error> {
        if let Some(evicted) = self.membership.eviction() {
            return Err(evicted);
        }
        let asked = self.low_watermark.lock().ask();
        let pending = PendingSnapshot { low_watermark: &self.low_watermark, asked };
        let now = self.now().await?;
        let snapshot = self.store.snapshot_at(now).await;
        self.low_watermark.lock().learn(now);
        drop(pending);
        Ok(snapshot)
    }

    /// Raises the horizon, as told by the root.
    pub(crate) fn raise_horizon(&self, horizon: Timestamp) {
        self.horizon.fetch_max(horizon.0, Ordering::AcqRel);
    }

    /// Checks that the row versions of a snapshot still exist.
    ///
    /// # Errors
    /// 72000.
    pub(crate) fn check_horizon(&self, snapshot: Timestamp) -> Result<(), Error> {
        let horizon = Timestamp(self.horizon.load(Ordering::Acquire));
        match snapshot >= horizon.max(self.store.readable_from()) {
            true => Ok(()),
            false => Err(Error::snapshot_too_old()),
        }
    }
}

/// A snapshot whose timestamp is requested; holds the low watermark.
struct PendingSnapshot<'a> {
    low_watermark: &'a Mutex<LowWatermark>,
    asked: Timestamp,
}

impl Drop for PendingSnapshot<'_> {
    fn drop(&mut self) {
        self.low_watermark.lock().taken(self.asked);
    }
}
