//! Transactions that this server coordinates, and the groups where they have written.
//!
//! A transaction is registered from before its first write to another server until its end. A
//! participant may discard a transaction that is not registered here.

use parking_lot::Mutex;
use sdds::GroupId;
use std::collections::BTreeMap;
use store::TransactionId;

/// The running transactions that have written on other servers.
#[derive(Debug, Default)]
pub(crate) struct CoordinatedTransactions(Mutex<BTreeMap<TransactionId, Running>>);

/// A running transaction.
#[derive(Debug, Clone, Default)]
struct Running {
    /// The groups where it may have written, and whether it certainly has.
    groups: BTreeMap<GroupId, bool>,
    /// How often it has rolled back to a savepoint.
    step: u64,
}

impl CoordinatedTransactions {
    /// Registers a write before it is sent. Returns its step, and whether it is the first write to
    /// the group.
    pub(crate) fn writes(&self, transaction: TransactionId, to: GroupId) -> (u64, bool) {
        let mut all = self.0.lock();
        let running = all.entry(transaction).or_default();
        let is_first = !running.groups.contains_key(&to);
        running.groups.entry(to).or_default();
        (running.step, is_first)
    }

    /// Notes that the first write to a group found nothing to do: the group is no participant.
    pub(crate) fn has_not_begun(&self, transaction: TransactionId, to: GroupId) {
        if let Some(running) = self.0.lock().get_mut(&transaction) {
            running.groups.remove(&to);
        }
    }

    /// Notes that a write was executed.
    pub(crate) fn has_written(&self, transaction: TransactionId, to: GroupId) {
        if let Some(running) = self.0.lock().get_mut(&transaction) {
            running.groups.insert(to, true);
        }
    }

    /// Whether a transaction has certainly written on a group.
    pub(crate) fn has_surely_written(
        &self,
        transaction: Option<TransactionId>,
        on: GroupId,
    ) -> bool {
        let all = self.0.lock();
        let running = transaction.and_then(|transaction| all.get(&transaction));
        running.is_some_and(|running| running.groups.get(&on) == Some(&true))
    }

    /// Begins a rollback to a savepoint. Returns the groups that take part, and the step of later
    /// writes.
    pub(crate) fn begin_rollback(&self, transaction: TransactionId) -> (Vec<GroupId>, u64) {
        match self.0.lock().get_mut(&transaction) {
            Some(running) => {
                running.step += 1;
                (running.groups.keys().copied().collect(), running.step)
            }
            None => (Vec::new(), 0),
        }
    }

    /// The groups where a transaction may have written, and whether it certainly has.
    pub(crate) fn groups(&self, transaction: TransactionId) -> BTreeMap<GroupId, bool> {
        self.0.lock().get(&transaction).map(|running| running.groups.clone()).unwrap_or_default()
    }

    /// Ends a transaction. Returns the groups where it may have written.
    pub(crate) fn end(&self, transaction: TransactionId) -> BTreeMap<GroupId, bool> {
        self.0.lock().remove(&transaction).unwrap_or_default().groups
    }

    /// Whether a transaction is running.
    pub(crate) fn is_running(&self, transaction: TransactionId) -> bool {
        self.0.lock().contains_key(&transaction)
    }

    /// Number of running transactions.
    pub(crate) fn len(&self) -> usize {
        self.0.lock().len()
    }
}
