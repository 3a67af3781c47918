//! Advisory locks of a session.
//!
//! Locks of the session are counted: each has to be released as often as it was taken. Locks of the
//! transaction end with it. In a cluster one server keeps those of all: a session asks it for each lock that it does not
//! have. What it has is locked here, too, where nobody but its own sessions looks.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use store::locks::{Mode, Owner, Party, Space, Target};
use store::{Peers, Store, TransactionPeers, within};
use values::Result;

/// A lock: the space and the number, and the mode.
type Place = ((Space, i64), Mode);

/// The advisory locks of a session.
#[derive(Debug)]
pub struct AdvisoryLocks {
    store: Arc<Store>,
    session: Owner,
    /// The open transaction.
    transaction: Mutex<Option<Owner>>,
    /// How often the session has taken each lock.
    counts: Mutex<BTreeMap<Place, u32>>,
    ending: Arc<Ending>,
}

/// Releases that other servers have to answer.
#[derive(Default)]
struct Ending(Mutex<Vec<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl std::fmt::Debug for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ending").finish_non_exhaustive()
    }
}

/// Locks that another server keeps for an owner. Dropping it releases them.
struct Elsewhere {
    peers: Arc<dyn TransactionPeers>,
    owner: Owner,
    one: Option<Place>,
    ending: Arc<Ending>,
    /// Whether somebody else releases them.
    is_kept: bool,
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if !self.is_kept {
            self.ending.0.lock().push(self.peers.unlock_numbers(self.owner, self.one));
        }
    }
}

impl AdvisoryLocks {
    /// Those of a new session with a process number.
    pub fn new(store: &Arc<Store>, process: u32) -> Self {
        let party = Party { server: store.server(), number: process.into() };
        Self {
            store: Arc::clone(store),
            session: Owner { party, transaction: 0 },
            transaction: Mutex::default(),
            counts: Mutex::default(),
            ending: Arc::default(),
        }
    }

    /// Sets the owner of the locks of the open transaction.
    pub fn use_transaction(&self, owner: Option<Owner>) {
        *self.transaction.lock() = owner;
    }

    /// Whether the session has locks that do not end with a transaction.
    pub fn are_held(&self) -> bool {
        !self.counts.lock().is_empty()
    }

    /// Takes a lock: for the session, or for its transaction. Waits at most `patience`; not at all if
    /// there is none. Returns whether the lock was taken.
    ///
    /// # Errors
    /// 55P03 and 40P01; in a cluster those of the server that keeps the locks.
    pub async fn take(
        &self,
        number: (Space, i64),
        mode: Mode,
        for_session: bool,
        patience: Option<Option<Duration>>,
    ) -> Result<bool> {
        // Outside of a transaction, its lock ends with the statement that takes it.
        let transaction = *self.transaction.lock();
        let passing = Owner { transaction: u64::MAX >> 1, ..self.session };
        let owner = if for_session { self.session } else { transaction.unwrap_or(passing) };
        if let Some(peers) = self.store.peers() {
            if !self.take_elsewhere(peers, owner, (number, mode), patience).await? {
                return Ok(false);
            }
        } else {
            let target = Target::Advisory(number.0, number.1);
            match patience {
                None if !self.store.try_lock_for(owner, &target, mode) => return Ok(false),
                None => {}
                Some(patience) => {
                    if let Some(wait) = self.store.lock_for(owner, target, mode)? {
                        wait.granted(patience).await?;
                    }
                }
            }
        }
        if for_session {
            *self.counts.lock().entry((number, mode)).or_default() += 1;
        } else if transaction.is_none() {
            self.release_for(passing, None);
            self.released().await;
        }
        Ok(true)
    }

    /// Asks for a lock that another server keeps, unless the owner has it.
    async fn take_elsewhere(
        &self,
        peers: &Arc<dyn Peers>,
        owner: Owner,
        place: Place,
        patience: Option<Option<Duration>>,
    ) -> Result<bool> {
        let ((space, number), mode) = place;
        let target = Target::Advisory(space, number);
        if self.store.has_lock(owner, &target, mode) {
            return Ok(true);
        }
        // Whatever happens, a lock that may have been taken is released.
        let mut asked = Elsewhere {
            peers: Arc::clone(peers) as Arc<dyn TransactionPeers>,
            owner,
            one: Some(place),
            ending: Arc::clone(&self.ending),
            is_kept: false,
        };
        let asking = peers.lock_number(owner, place.0, place.1, patience.is_some());
        let taken = within(patience.flatten(), asking).await?;
        if !taken {
            asked.is_kept = true;
            return Ok(false);
        }
        self.store.try_lock_for(owner, &target, mode);
        match *self.transaction.lock() == Some(owner) {
            true => self.store.keep_for(owner, Box::new(asked)),
            false => asked.is_kept = true,
        }
        Ok(true)
    }

    /// Releases a lock of the session once. Returns whether it had the lock.
    pub async fn release(&self, number: (Space, i64), mode: Mode) -> bool {
        let place = (number, mode);
        let is_last = {
            let mut counts = self.counts.lock();
            let Some(count) = counts.get_mut(&place) else { return false };
            *count -= 1;
            let is_last = *count == 0;
            if is_last {
                counts.remove(&place);
            }
            is_last
        };
        if is_last {
            self.release_for(self.session, Some(place));
            self.released().await;
        }
        true
    }

    /// Releases all locks of the session.
    pub async fn release_all(&self) {
        self.end_all();
        self.released().await;
    }

    fn end_all(&self) {
        if !std::mem::take(&mut *self.counts.lock()).is_empty() {
            self.release_for(self.session, None);
        }
    }

    /// Begins to release a lock of an owner, or all.
    fn release_for(&self, owner: Owner, one: Option<Place>) {
        match one {
            Some(((space, number), mode)) => {
                self.store.unlock_for(owner, &Target::Advisory(space, number), mode);
            }
            None => self.store.unlock_all_for(owner),
        }
        if let Some(peers) = self.store.peers() {
            self.ending.0.lock().push(peers.unlock_numbers(owner, one));
        }
    }

    /// Waits until locks that have ended are free for others.
    pub async fn released(&self) {
        let ending = std::mem::take(&mut *self.ending.0.lock());
        for one in ending {
            one.await;
        }
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        self.end_all();
    }
}
