//! Advisory locks of a session.
//!
//! Locks of the session are counted: each has to be released as often as it was taken. Locks of the
//! transaction end with it.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use store::locks::{Mode, Owner, Party, Target};
use values::{Error, Result};

/// The advisory locks of a session.
#[derive(Debug)]
pub struct AdvisoryLocks {
    store: Arc<Store>,
    session: Owner,
    /// The open transaction.
    transaction: Mutex<Option<Owner>>,
    /// How often the session has taken each lock.
    counts: Mutex<BTreeMap<(Target, Mode), u32>>,
}

impl AdvisoryLocks {
    /// Those of a new session with a process number.
    pub fn new(store: &Arc<Store>, process: u32) -> Self {
        let party = Party { server: store.server(), number: process.into() };
        let session = Owner { party, transaction: 0 };
        let (store, transaction) = (Arc::clone(store), Mutex::default());
        Self { store, session, transaction, counts: Mutex::default() }
    }

    /// Sets the owner of the locks of the open transaction.
    pub fn use_transaction(&self, owner: Option<Owner>) {
        *self.transaction.lock() = owner;
    }

    /// Takes a lock: for the session, or for its transaction. Waits at most `patience`; not at all if
    /// there is none. Returns whether the lock was taken.
    ///
    /// # Errors
    /// 55P03 and 40P01; 0A000 in a cluster.
    pub async fn take(
        &self,
        target: Target,
        mode: Mode,
        for_session: bool,
        patience: Option<Option<Duration>>,
    ) -> Result<bool> {
        self.refuse_cluster()?;
        // Outside of a transaction, its lock ends with the statement that takes it.
        let transaction = *self.transaction.lock();
        let passing = Owner { transaction: u64::MAX, ..self.session };
        let owner = if for_session { self.session } else { transaction.unwrap_or(passing) };
        match patience {
            None if !self.store.try_lock_for(owner, &target, mode) => return Ok(false),
            None => {}
            Some(patience) => {
                if let Some(wait) = self.store.lock_for(owner, target.clone(), mode)? {
                    wait.granted(patience).await?;
                }
            }
        }
        if for_session {
            *self.counts.lock().entry((target, mode)).or_default() += 1;
        } else if transaction.is_none() {
            self.store.unlock_all_for(passing);
        }
        Ok(true)
    }

    /// Releases a lock of the session once. Returns whether it had the lock.
    ///
    /// # Errors
    /// 0A000 in a cluster.
    pub fn release(&self, target: Target, mode: Mode) -> Result<bool> {
        self.refuse_cluster()?;
        let mut counts = self.counts.lock();
        let place = (target, mode);
        let Some(count) = counts.get_mut(&place) else { return Ok(false) };
        *count -= 1;
        if *count == 0 {
            counts.remove(&place);
            self.store.unlock_for(self.session, &place.0, mode);
        }
        Ok(true)
    }

    /// Releases all locks of the session.
    pub fn release_all(&self) {
        self.counts.lock().clear();
        self.store.unlock_all_for(self.session);
    }

    fn refuse_cluster(&self) -> Result<()> {
        match self.store.peers() {
            None => Ok(()),
            Some(_) => Err(Error::unsupported(
                "advisory locks in a cluster of several servers are not supported",
            )),
        }
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        self.release_all();
    }
}
