//! Transactions that this server coordinates, and where else they have written.
//!
//! A transaction is here from before its first write is sent until it has ended: who holds writes of one that is not here
//! may forget them.

use parking_lot::Mutex;
use sdds::GroupId;
use std::collections::BTreeMap;
use store::TransactionId;

/// All that run.
#[derive(Debug, Default)]
pub(crate) struct CoordinatedTransactions(Mutex<BTreeMap<TransactionId, Running>>);

/// One of them.
#[derive(Debug, Clone, Default)]
struct Running {
    /// Where it may have written, and whether it certainly has.
    groups: BTreeMap<GroupId, bool>,
    /// How often it went back to a savepoint.
    step: u64,
}

impl CoordinatedTransactions {
    /// A write is about to be sent. Its step comes back, and whether it is the first one to that group.
    pub(crate) fn writes(&self, transaction: TransactionId, to: GroupId) -> (u64, bool) {
        let mut all = self.0.lock();
        let running = all.entry(transaction).or_default();
        let is_first = !running.groups.contains_key(&to);
        running.groups.entry(to).or_default();
        (running.step, is_first)
    }

    /// The first write to a group has found nothing to do there: the group has no part in the transaction.
    pub(crate) fn has_not_begun(&self, transaction: TransactionId, to: GroupId) {
        if let Some(running) = self.0.lock().get_mut(&transaction) {
            running.groups.remove(&to);
        }
    }

    /// A write has been done.
    pub(crate) fn has_written(&self, transaction: TransactionId, to: GroupId) {
        if let Some(running) = self.0.lock().get_mut(&transaction) {
            running.groups.insert(to, true);
        }
    }

    /// It goes back to a savepoint: the groups that have to, and the first step of what comes after.
    pub(crate) fn goes_back(&self, transaction: TransactionId) -> (Vec<GroupId>, u64) {
        match self.0.lock().get_mut(&transaction) {
            Some(running) => {
                running.step += 1;
                (running.groups.keys().copied().collect(), running.step)
            }
            None => (Vec::new(), 0),
        }
    }

    /// Where it may have written, and whether it certainly has.
    pub(crate) fn groups(&self, transaction: TransactionId) -> BTreeMap<GroupId, bool> {
        self.0.lock().get(&transaction).map(|running| running.groups.clone()).unwrap_or_default()
    }

    /// It has ended. Where it may have written comes back.
    pub(crate) fn end(&self, transaction: TransactionId) -> BTreeMap<GroupId, bool> {
        self.0.lock().remove(&transaction).unwrap_or_default().groups
    }

    /// Whether it goes on.
    pub(crate) fn is_running(&self, transaction: TransactionId) -> bool {
        self.0.lock().contains_key(&transaction)
    }

    /// How many go on.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}
