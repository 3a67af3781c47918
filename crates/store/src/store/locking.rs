//! The locks on this server: those that sessions ask for, and who waits for whom.

use super::Store;
use crate::Error;
use crate::holds::Kept;
use crate::locking::{LockWait, request};
use catalog::TableId;
use locks::{Listed, Mode, Owner, Party, Target};
use sdds::{Key, ServerId};

impl Store {
    /// Whether a running transaction has locks here.
    pub fn has_locks(&self) -> bool {
        !self.holds().lock().locks.is_empty()
    }

    /// Whether a running transaction has a lock on a row of this server.
    pub fn is_locked(&self, table: TableId, key: &Key) -> bool {
        let row = Target::Row(table.0, key.clone());
        !self.holds().lock().locks.is_free(None, &row, Mode::ForUpdate)
    }

    /// Locks a target for an owner on this server; the result waits until it is free. The owner holds the
    /// lock until it releases it, or its transaction ends.
    ///
    /// # Errors
    /// 40P01 if the wait would close a circle.
    pub fn lock_for(
        &self,
        owner: Owner,
        target: Target,
        mode: Mode,
    ) -> Result<Option<LockWait>, Error> {
        request(self.holds(), owner, [target], mode)
    }

    /// Locks a target for an owner if it is free.
    pub fn try_lock_for(&self, owner: Owner, target: &Target, mode: Mode) -> bool {
        self.holds().lock().locks.try_acquire(owner, target, mode)
    }

    /// Releases a lock of an owner; returns whether it was held.
    pub fn unlock_for(&self, owner: Owner, target: &Target, mode: Mode) -> bool {
        let mut held = self.holds().lock();
        let Some(granted) = held.locks.release(owner, target, mode) else { return false };
        held.wake(granted);
        true
    }

    /// Keeps something until the last lock of an owner ends.
    pub fn keep_for(&self, owner: Owner, kept: Kept) {
        let mut held = self.holds().lock();
        let last = held.locks.count(owner);
        held.kept.entry(owner).or_default().push((last, kept));
    }

    /// Whether an owner holds a lock.
    pub fn has_lock(&self, owner: Owner, target: &Target, mode: Mode) -> bool {
        self.holds().lock().locks.holds(owner, target, mode)
    }

    /// Returns the number of locks of an owner.
    pub fn lock_count(&self, owner: Owner) -> usize {
        self.holds().lock().locks.count(owner)
    }

    /// Releases the locks that are kept here for owners of some other servers.
    pub fn unlock_all_of(&self, is_gone: impl Fn(ServerId) -> bool) {
        let mut held = self.holds().lock();
        let is_gone = |owner: &Owner| owner.is_elsewhere() && is_gone(owner.party.server);
        for owner in held.locks.owners().filter(is_gone).collect::<Vec<_>>() {
            let granted = held.locks.end(owner);
            held.wake(granted);
        }
    }

    /// Releases all locks of an owner.
    pub fn unlock_all_for(&self, owner: Owner) {
        let mut held = self.holds().lock();
        let granted = held.locks.end(owner);
        held.wake(granted);
    }

    /// Returns which parties wait for which on this server.
    pub fn waits(&self) -> Vec<(Party, Party)> {
        self.holds().lock().locks.edges()
    }

    /// Returns the locks on this server, and the requests that wait.
    pub fn locks(&self) -> Vec<Listed> {
        self.holds().lock().locks.list()
    }
}
