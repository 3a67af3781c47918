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
}

impl Oracle {
    /// An oracle whose timestamps follow `last`.
    pub(crate) fn new(last: Timestamp) -> Self {
        Self { last, outcomes: BTreeMap::new(), order: VecDeque::new() }
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

    /// Commits a transaction that has written on several servers. Idempotent; `None` if it was
    /// rolled back before.
    pub(crate) fn decide(&mut self, transaction: TransactionId) -> Option<Timestamp> {
        if let Some(known) = self.outcomes.get(&transaction) {
            return *known;
        }
        let timestamp = self.next(1);
        self.remember(transaction, Some(timestamp));
        Some(timestamp)
    }

    /// The outcome of a transaction that a participant has prepared. If it is not committed yet, it
    /// is rolled back for good.
    pub(crate) fn outcome(&mut self, transaction: TransactionId) -> Option<Timestamp> {
        if let Some(known) = self.outcomes.get(&transaction) {
            return *known;
        }
        self.remember(transaction, None);
        None
    }

    fn remember(&mut self, transaction: TransactionId, outcome: Option<Timestamp>) {
        self.outcomes.insert(transaction, outcome);
        self.order.push_back(transaction);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.outcomes.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::GroupId;

    fn transaction(number: u64) -> TransactionId {
        TransactionId { coordinator: GroupId(1), number }
    }

    #[test]
    fn a_decision_is_taken_once() {
        let mut oracle = Oracle::new(Timestamp(7));
        assert_eq!(oracle.decide(transaction(1)), Some(Timestamp(8)));
        assert_eq!(oracle.decide(transaction(1)), Some(Timestamp(8)));
        assert_eq!(oracle.outcome(transaction(1)), Some(Timestamp(8)));
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
    fn what_was_abandoned_is_not_committed_later() {
        let mut oracle = Oracle::new(Timestamp::ZERO);
        assert_eq!(oracle.outcome(transaction(1)), None);
        assert_eq!(oracle.decide(transaction(1)), None);
        assert_eq!(oracle.now(), Timestamp::ZERO);
    }

    #[test]
    fn it_does_not_remember_for_ever() {
        let mut oracle = Oracle::new(Timestamp::ZERO);
        for number in 0..REMEMBERED as u64 + 10 {
            oracle.decide(transaction(number));
        }
        assert_eq!(oracle.outcomes.len(), REMEMBERED);
        assert_eq!(oracle.order.len(), REMEMBERED);
    }
}
