//! Locks of transactions on this server: who waits is woken when the lock is free.
//!
//! The lock table ([`locks`]) is part of the [holds](crate::holds), under the same lock: a commit
//! that has no locks of its own sees every lock that was granted before. A request that would wait in
//! a circle is refused at once.

use crate::holds::{Held, Holds};
use crate::{Error, error};
use catalog::TableId;
use locks::deadlock::{aborted_by, cycle};
use locks::{Acquired, Mode, Owner, Party, Target, Ticket};
use sdds::KeyRange;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// The locks of an owner on this server. Dropping it releases them.
pub(crate) struct Locker {
    holds: Arc<Holds>,
    owner: Owner,
}

impl fmt::Debug for Locker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locker").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// How long a request waits before somebody looks for a deadlock over several servers. On one server it
/// is refused at once.
pub const DEADLOCK_PAUSE: Duration = Duration::from_secs(1);

/// Whoever is waiting for a lock. Dropping it ends the request.
#[derive(Debug)]
pub struct LockWait(Awaited);

#[derive(Debug)]
enum Awaited {
    /// A lock.
    Lock(oneshot::Receiver<()>, Request),
    /// The decisions of prepared transactions that write to a range.
    Decision(Arc<Holds>, TableId, KeyRange),
}

/// A request that waits. Dropping it ends it.
struct Request {
    holds: Arc<Holds>,
    ticket: Ticket,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let mut held = self.holds.lock();
        held.wakers.remove(&self.ticket);
        let granted = held.locks.withdraw(self.ticket);
        held.wake(granted);
    }
}

impl LockWait {
    /// Waits until the lock is granted.
    ///
    /// # Errors
    /// 55P03 after `timeout`.
    pub async fn granted(self, timeout: Option<Duration>) -> Result<(), Error> {
        let over = async move {
            match self.0 {
                Awaited::Lock(granted, request) => {
                    let _ = granted.await;
                    drop(request);
                }
                Awaited::Decision(holds, table, range) => {
                    holds.unless_prepared(table, &range, |_| ()).await;
                }
            }
        };
        match timeout {
            None => over.await,
            Some(timeout) if tokio::time::timeout(timeout, over).await.is_err() => {
                return Err(error::lock_timeout());
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Returns what waits for the decisions of prepared transactions that write to a range.
    pub(crate) fn decision(holds: &Arc<Holds>, table: TableId, range: KeyRange) -> Self {
        Self(Awaited::Decision(Arc::clone(holds), table, range))
    }
}

impl Held {
    /// Wakes those whose requests have been granted.
    pub(crate) fn wake(&mut self, granted: Vec<Ticket>) {
        for ticket in granted {
            if let Some(waker) = self.wakers.remove(&ticket) {
                let _ = waker.send(());
            }
        }
    }
}

impl Locker {
    pub(crate) fn new(holds: &Arc<Holds>, owner: Owner) -> Self {
        Self { holds: Arc::clone(holds), owner }
    }

    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }

    /// Locks targets in their order, up to the first that is not free: the result waits for it.
    ///
    /// # Errors
    /// 40P01 if the wait would close a circle.
    pub(crate) fn lock(
        &self,
        targets: impl IntoIterator<Item = Target>,
        mode: Mode,
    ) -> Result<Option<LockWait>, Error> {
        request(&self.holds, self.owner, targets, mode)
    }

    /// Locks a target if it is free.
    pub(crate) fn try_lock(&self, target: &Target, mode: Mode) -> bool {
        self.holds.lock().locks.try_acquire(self.owner, target, mode)
    }

    /// Releases all.
    pub(crate) fn release_all(&self) {
        let mut held = self.holds.lock();
        let granted = held.locks.end(self.owner);
        held.wake(granted);
        let kept = held.kept.remove(&self.owner);
        // Not under the lock.
        drop(held);
        drop(kept);
    }

    /// Returns a mark for [`Self::release_since`].
    pub(crate) fn mark(&self) -> usize {
        self.holds.lock().locks.count(self.owner)
    }

    /// Releases what was locked since a mark.
    pub(crate) fn release_since(&self, mark: usize) {
        let mut held = self.holds.lock();
        let granted = held.locks.release_since(self.owner, mark);
        held.wake(granted);
        let kept = held.kept.remove(&self.owner).unwrap_or_default();
        let (kept, ended): (Vec<_>, Vec<_>) = kept.into_iter().partition(|(at, _)| *at <= mark);
        if !kept.is_empty() {
            held.kept.insert(self.owner, kept);
        }
        drop(held);
        drop(ended);
    }
}

/// Locks targets in their order, up to the first that is not free: the result waits for it.
pub(crate) fn request(
    holds: &Arc<Holds>,
    owner: Owner,
    targets: impl IntoIterator<Item = Target>,
    mode: Mode,
) -> Result<Option<LockWait>, Error> {
    let mut held = holds.lock();
    for target in targets {
        let Acquired::Waits(ticket) = held.locks.acquire(owner, &target, mode) else { continue };
        if held.locks.holds_any(owner.party)
            && let Some(circle) = cycle(&held.locks.edges(), owner.party)
        {
            let granted = held.locks.withdraw(ticket);
            held.wake(granted);
            return Err(error::deadlock(&circle));
        }
        let (waker, granted) = oneshot::channel();
        held.wakers.insert(ticket, waker);
        let request = Request { holds: Arc::clone(holds), ticket };
        return Ok(Some(LockWait(Awaited::Lock(granted, request))));
    }
    Ok(None)
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.release_all();
    }
}

/// The error of a party that waits in a circle over several servers, if it is the one that gives up.
///
/// # Errors
/// 40P01.
pub fn refuse_deadlock(edges: &[(Party, Party)], party: Party) -> Result<(), Error> {
    match aborted_by(edges, party) {
        Some(circle) => Err(error::deadlock(&circle)),
        None => Ok(()),
    }
}
