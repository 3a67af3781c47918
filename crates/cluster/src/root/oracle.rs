//! Timestamps and outcomes of transactions. Assigning a commit timestamp to a transaction commits
//! it.

use sdds::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use store::TransactionId;

/// Number of outcomes that are remembered. Participants ask within seconds, or are evicted.
const REMEMBERED: usize = 1 << 20;

/// The last timestamp, and the outcomes of transactions.
#[derive(Debug)]
pub(crate) struct Oracle {
    last: Timestamp,
    outcomes: BTreeMap<TransactionId, Option<Timestamp>>,
    order: VecDeque<TransactionId>,
    /// Whether outcomes are remembered until they are [forgotten](Self::forget).
    keeps_data: bool,
    /// No timestamp above this may be assigned before it is durably raised.
    leased: Timestamp,
}

impl Oracle {
    /// An oracle whose timestamps follow `last`.
    pub(crate) fn new(last: Timestamp) -> Self {
        Self {
            last,
            outcomes: BTreeMap::new(),
            order: VecDeque::new(),
            keeps_data: false,
            leased: Timestamp(u64::MAX),
        }
    }

    /// As [`Self::new`], for a root with a data directory: nothing after `last` may be assigned yet.
    pub(crate) fn durable(last: Timestamp) -> Self {
        Self { keeps_data: true, leased: last, ..Self::new(last) }
    }

    /// Whether `count` timestamps, and some more, may be assigned.
    pub(crate) fn has_lease(&self, count: u64) -> bool {
        self.leased.0.saturating_sub(self.last.0) >= count
    }

    /// Allows timestamps up to a bound that is durable.
    pub(crate) fn lease(&mut self, bound: Timestamp) {
        self.leased = self.leased.max(bound);
    }

    /// The timestamp of the last commit, which sees all before.
    pub(crate) fn now(&self) -> Timestamp {
        self.last
    }

    /// Commits `count` transactions that have written on one server each; their outcomes are not
    /// remembered. Returns the first of consecutive timestamps.
    pub(crate) fn next(&mut self, count: u32) -> Timestamp {
        let first = self.last.next();
        self.last = Timestamp(self.last.0 + u64::from(count));
        first
    }

    /// The outcome of a transaction that has written on several servers, if it is decided.
    pub(crate) fn known(&self, transaction: TransactionId) -> Option<Option<Timestamp>> {
        self.outcomes.get(&transaction).copied()
    }

    /// Remembers a decision; `None` means that the transaction is rolled back for good.
    pub(crate) fn remember(&mut self, transaction: TransactionId, outcome: Option<Timestamp>) {
        self.outcomes.insert(transaction, outcome);
        self.order.push_back(transaction);
        if !self.keeps_data
            && self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.outcomes.remove(&oldest);
        }
    }

    /// Number of outcomes that are remembered.
    pub(crate) fn outcomes(&self) -> usize {
        self.outcomes.len()
    }

    /// Forgets transactions that have ended on all servers: those that were committed at or before a timestamp. Returns
    /// them.
    pub(crate) fn forget(&mut self, settled: Timestamp) -> Vec<TransactionId> {
        let has_ended = |outcome: &Option<Timestamp>| outcome.is_some_and(|at| at <= settled);
        let ended = self.outcomes.iter().filter(|(_, outcome)| has_ended(outcome));
        let ended: Vec<TransactionId> = ended.map(|(transaction, _)| *transaction).collect();
        if !ended.is_empty() {
            self.outcomes.retain(|_, outcome| !has_ended(outcome));
            self.order.retain(|transaction| self.outcomes.contains_key(transaction));
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::ServerId;

    fn transaction(number: u64) -> TransactionId {
        TransactionId { coordinator: ServerId(1), number }
    }

    #[test]
    fn a_decision_is_taken_once() {
        let mut oracle = Oracle::new(Timestamp(7));
        assert_eq!(oracle.known(transaction(1)), None);
        let timestamp = oracle.next(1);
        oracle.remember(transaction(1), Some(timestamp));
        assert_eq!(oracle.known(transaction(1)), Some(Some(Timestamp(8))));
        assert_eq!(oracle.now(), Timestamp(8));
    }

    #[test]
    fn commits_that_come_together_have_timestamps_of_their_own() {
        let mut oracle = Oracle::new(Timestamp(7));
        assert_eq!(oracle.next(3), Timestamp(8));
        assert_eq!(oracle.now(), Timestamp(10));
        assert_eq!(oracle.next(1), Timestamp(11));
    }

    #[test]
    fn what_has_ended_everywhere_is_forgotten() {
        let mut oracle = Oracle::durable(Timestamp(7));
        assert!(!oracle.has_lease(1));
        oracle.lease(Timestamp(100));
        assert!(oracle.has_lease(93) && !oracle.has_lease(94));
        oracle.remember(transaction(1), Some(Timestamp(8)));
        oracle.remember(transaction(2), Some(Timestamp(9)));
        oracle.remember(transaction(3), None);
        assert_eq!(oracle.forget(Timestamp(8)), [transaction(1)]);
        assert_eq!(oracle.known(transaction(1)), None);
        assert_eq!(oracle.known(transaction(2)), Some(Some(Timestamp(9))));
        assert_eq!(oracle.known(transaction(3)), Some(None));
    }

    #[test]
    fn it_does_not_remember_for_ever() {
        let mut oracle = Oracle::new(Timestamp::ZERO);
        for number in 0..REMEMBERED as u64 + 10 {
            oracle.remember(transaction(number), None);
        }
        assert_eq!(oracle.outcomes.len(), REMEMBERED);
        assert_eq!(oracle.order.len(), REMEMBERED);
    }
}
