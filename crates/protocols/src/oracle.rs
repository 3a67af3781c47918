//! The oracle of the root: timestamps, and the outcomes of transactions on several servers. To assign a commit timestamp to a
//! transaction commits it.
//!
//! ```text
//!                 commit it                      ended on all servers
//!   undecided ---------------> committed at t --------------------------> forgotten
//!       |
//!       |    who has heard nothing asks
//!       +------------------------------------> rolled back
//! ```
//!
//! A root with a data directory leases timestamps in blocks: it assigns none above a bound that is durable, and begins above
//! the bound after a restart. It forgets an outcome when every server says that all transactions up to its timestamp have
//! ended there; that one was rolled back is remembered for ever, because a server may have been down since.
//!
//! Invariants: timestamps grow, and none is above the leased bound; an outcome never changes while it is known; a commit is
//! forgotten only when it has ended on all servers.
//!
//! Not here: who is a server, and what is durable.

use crate::planted::{Bug, is_planted};
use sdds::{ServerId, Timestamp, TransactionId};
use std::collections::{BTreeMap, VecDeque};

/// Timestamps that are leased at a time.
pub const LEASE: u64 = 1 << 20;

/// Number of outcomes that a root without a data directory remembers. Participants ask within seconds, or are evicted.
pub const REMEMBERED: usize = 1 << 20;

/// Outcomes that are not worth the effort to forget them.
pub const OUTCOMES_KEPT: usize = 1 << 10;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// So many transactions that have written on one server each want to commit.
    Next {
        /// How many.
        count: u32,
    },
    /// A transaction that is prepared on all its servers wants to commit.
    Decide(TransactionId),
    /// A server wants to know the outcome of a transaction.
    Ask(TransactionId),
    /// The outcome of a transaction could not be kept, and nobody has been told.
    NotKept(TransactionId),
    /// No timestamp above this is assigned before a greater bound is durable, and this one is.
    Leased(Timestamp),
    /// Some time has passed.
    Tick,
    /// All transactions that were committed up to a timestamp have ended on a server, durably.
    Settled {
        /// The server.
        server: ServerId,
        /// The timestamp.
        at: Timestamp,
        /// All servers of the cluster.
        present: &'a [ServerId],
    },
}

/// What is to be done, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Make it durable that timestamps up to this may be assigned, and say so. Unless it was a [tick](Event::Tick), nothing
    /// else has been done: take the event again afterwards.
    Lease(Timestamp),
    /// These timestamps are assigned: this one, and those that follow it.
    Assigned(Timestamp),
    /// Keep an outcome. Nobody may be told before it is durable.
    Keep(TransactionId, Option<Timestamp>),
    /// Tell an outcome when all that was kept so far is durable; `None` if the transaction is rolled back for good.
    Tell(Option<Timestamp>),
    /// Remove a kept outcome.
    Forget(TransactionId),
}

/// The last timestamp, and the outcomes of transactions.
#[derive(Debug)]
pub struct Oracle {
    last: Timestamp,
    /// No timestamp above this may be assigned; `None` without a data directory.
    leased: Option<Timestamp>,
    /// The greatest bound that was to be made durable. Bounds never fall: the last one that is written counts after a restart.
    asked: Timestamp,
    outcomes: BTreeMap<TransactionId, Option<Timestamp>>,
    /// In the order of the decisions, without a data directory.
    order: VecDeque<TransactionId>,
    /// Up to where the transactions of each server have ended.
    settled: BTreeMap<ServerId, Timestamp>,
}

impl Oracle {
    /// An oracle that keeps nothing. Its timestamps follow `last`.
    pub fn new(last: Timestamp) -> Self {
        let (outcomes, order, settled) = Default::default();
        Self { last, leased: None, asked: last, outcomes, order, settled }
    }

    /// An oracle with a data directory, with what that has kept. Its timestamps follow `last`, and all that it may have
    /// assigned before.
    pub fn resume(
        last: Timestamp,
        outcomes: impl IntoIterator<Item = (TransactionId, Option<Timestamp>)>,
    ) -> Self {
        let outcomes = outcomes.into_iter().collect();
        Self { leased: Some(last), outcomes, ..Self::new(last) }
    }

    /// The timestamp of the last commit, which sees all before.
    pub fn now(&self) -> Timestamp {
        self.last
    }

    /// Takes an event, and appends what is to be done.
    pub fn step(&mut self, event: Event<'_>, effects: &mut Vec<Effect>) {
        let (before, known) = (self.last, self.known_of(event));
        match event {
            Event::Next { count } => {
                assert!(count > 0, "somebody wants to commit");
                if self.has_lease(count.into(), effects) {
                    effects.push(Effect::Assigned(self.assign(count)));
                }
            }
            Event::Decide(transaction) => self.settle(transaction, true, effects),
            // Who asks has waited for the decision: it must not be taken later.
            Event::Ask(transaction) => self.settle(transaction, false, effects),
            Event::NotKept(transaction) => {
                assert!(self.outcomes.remove(&transaction).is_some(), "it has been decided");
                self.order.retain(|other| *other != transaction);
            }
            Event::Leased(bound) => {
                let leased = self.leased.get_or_insert(bound);
                *leased = bound.max(*leased);
            }
            Event::Tick => {
                if self.left().is_some_and(|left| left < LEASE / 2) {
                    self.lease(2 * LEASE, effects);
                }
            }
            Event::Settled { server, at, present } => {
                let settled = self.settled.entry(server).or_default();
                *settled = at.max(*settled);
                self.forget(present, effects);
            }
        }
        self.assert_invariants(before, event, known);
    }

    /// Decides a transaction unless it is decided.
    fn settle(&mut self, transaction: TransactionId, commits: bool, effects: &mut Vec<Effect>) {
        if let Some(known) = self.outcomes.get(&transaction) {
            effects.push(Effect::Tell(*known));
            return;
        }
        let outcome = match commits {
            true if !self.has_lease(1, effects) => return,
            true => Some(self.assign(1)),
            false => None,
        };
        self.remember(transaction, outcome);
        if !is_planted(Bug::DecisionInMemory) {
            effects.push(Effect::Keep(transaction, outcome));
        }
        effects.push(Effect::Tell(outcome));
    }

    fn remember(&mut self, transaction: TransactionId, outcome: Option<Timestamp>) {
        self.outcomes.insert(transaction, outcome);
        if self.leased.is_some() {
            return;
        }
        self.order.push_back(transaction);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.outcomes.remove(&oldest);
        }
    }

    /// Forgets what has ended on all servers.
    fn forget(&mut self, present: &[ServerId], effects: &mut Vec<Effect>) {
        let forgets = is_planted(Bug::OutcomeForgotten);
        if self.leased.is_none() || (self.outcomes.len() <= OUTCOMES_KEPT && !forgets) {
            return;
        }
        let of = |server| self.settled.get(server).copied().unwrap_or(Timestamp::ZERO);
        let settled = if forgets { Some(self.last) } else { present.iter().map(of).min() };
        let Some(settled) = settled else { return };
        let has_ended = |outcome: &Option<Timestamp>| outcome.is_some_and(|at| at <= settled);
        let ended = self.outcomes.iter().filter(|(_, outcome)| has_ended(outcome));
        effects.extend(ended.map(|(transaction, _)| Effect::Forget(*transaction)));
        self.outcomes.retain(|_, outcome| !has_ended(outcome));
    }

    /// Whether so many timestamps may be assigned; otherwise more are leased first.
    fn has_lease(&mut self, count: u64, effects: &mut Vec<Effect>) -> bool {
        let is_enough = self.left().is_none_or(|left| left >= count);
        if !is_enough {
            self.lease(count + LEASE, effects);
        }
        is_enough
    }

    /// Leases so many timestamps.
    fn lease(&mut self, count: u64, effects: &mut Vec<Effect>) {
        self.asked = self.asked.max(Timestamp(self.last.0 + count));
        effects.push(Effect::Lease(self.asked));
    }

    /// How many timestamps may be assigned; `None` for any number.
    fn left(&self) -> Option<u64> {
        self.leased.map(|leased| leased.0.saturating_sub(self.last.0))
    }

    /// Assigns timestamps, and returns the first.
    fn assign(&mut self, count: u32) -> Timestamp {
        let first = self.last.next();
        self.last = Timestamp(self.last.0 + u64::from(count));
        first
    }

    /// What is known of the transaction that an event is about.
    fn known_of(&self, event: Event<'_>) -> Option<Option<Timestamp>> {
        match event {
            Event::Decide(of) | Event::Ask(of) => self.outcomes.get(&of).copied(),
            Event::Next { .. }
            | Event::NotKept(_)
            | Event::Leased(_)
            | Event::Tick
            | Event::Settled { .. } => None,
        }
    }

    fn assert_invariants(
        &self,
        before: Timestamp,
        event: Event<'_>,
        known: Option<Option<Timestamp>>,
    ) {
        assert!(before <= self.last, "timestamps grow");
        assert!(self.leased.is_none_or(|leased| self.last <= leased), "all of them are leased");
        assert!(self.leased.is_none_or(|leased| leased <= self.asked), "what is leased is durable");
        let now = self.known_of(event);
        assert!(known.is_none() || now == known, "a decision is taken once");
        assert!(now.flatten().is_none_or(|at| at <= self.last), "a commit has been assigned");
        match self.leased {
            Some(_) => assert!(self.order.is_empty(), "what is kept is forgotten by its timestamp"),
            None => assert!(self.order.len() == self.outcomes.len(), "each has its turn"),
        }
        assert!(self.order.len() <= REMEMBERED, "it does not remember for ever");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(number: u64) -> TransactionId {
        TransactionId { coordinator: ServerId(1), number }
    }

    fn step(oracle: &mut Oracle, event: Event<'_>) -> Vec<Effect> {
        let mut effects = Vec::new();
        oracle.step(event, &mut effects);
        effects
    }

    fn kept(outcome: Option<u64>) -> [Effect; 2] {
        let outcome = outcome.map(Timestamp);
        [Effect::Keep(transaction(1), outcome), Effect::Tell(outcome)]
    }

    #[test]
    fn a_decision_is_taken_once() {
        let mut oracle = Oracle::new(Timestamp(7));
        assert_eq!(step(&mut oracle, Event::Decide(transaction(1))), kept(Some(8)));
        for event in [Event::Ask(transaction(1)), Event::Decide(transaction(1))] {
            assert_eq!(step(&mut oracle, event), [Effect::Tell(Some(Timestamp(8)))]);
        }
        assert_eq!(oracle.now(), Timestamp(8));
    }

    #[test]
    fn a_transaction_that_somebody_has_asked_for_is_rolled_back_for_good() {
        let mut oracle = Oracle::new(Timestamp(7));
        assert_eq!(step(&mut oracle, Event::Ask(transaction(1))), kept(None));
        assert_eq!(step(&mut oracle, Event::Decide(transaction(1))), [Effect::Tell(None)]);
        assert_eq!(oracle.now(), Timestamp(7));
    }

    #[test]
    fn a_decision_that_could_not_be_kept_was_not_taken() {
        let mut oracle = Oracle::resume(Timestamp(7), []);
        let [Effect::Lease(bound)] = step(&mut oracle, Event::Tick)[..] else { panic!("a lease") };
        step(&mut oracle, Event::Leased(bound));
        assert_eq!(step(&mut oracle, Event::Decide(transaction(1))), kept(Some(8)));
        assert_eq!(step(&mut oracle, Event::NotKept(transaction(1))), []);
        assert_eq!(step(&mut oracle, Event::Ask(transaction(1))), kept(None));
    }

    #[test]
    fn commits_that_come_together_have_timestamps_of_their_own() {
        let mut oracle = Oracle::new(Timestamp(7));
        let mut next = |count| step(&mut oracle, Event::Next { count });
        assert_eq!(next(3), [Effect::Assigned(Timestamp(8))]);
        assert_eq!(next(1), [Effect::Assigned(Timestamp(11))]);
    }

    #[test]
    fn timestamps_are_leased_before_they_are_assigned() {
        let mut oracle = Oracle::resume(Timestamp(7), []);
        let bound = Timestamp(8 + LEASE);
        assert_eq!(step(&mut oracle, Event::Decide(transaction(1))), [Effect::Lease(bound)]);
        assert_eq!(oracle.now(), Timestamp(7), "nothing is decided");
        assert_eq!(step(&mut oracle, Event::Leased(bound)), []);
        assert_eq!(step(&mut oracle, Event::Decide(transaction(1))), kept(Some(8)));
        assert_eq!(step(&mut oracle, Event::Tick), [], "there are enough");
        let count = LEASE as u32 / 2 + 1;
        assert_eq!(step(&mut oracle, Event::Next { count }), [Effect::Assigned(Timestamp(9))]);
        let more = Timestamp(oracle.now().0 + 2 * LEASE);
        assert_eq!(step(&mut oracle, Event::Tick), [Effect::Lease(more)]);
        assert_eq!(step(&mut oracle, Event::Leased(bound)), [], "a late lease takes nothing back");
        assert_eq!(step(&mut oracle, Event::Ask(transaction(2))).len(), 2, "it needs no timestamp");
    }

    #[test]
    fn a_lease_that_overtakes_another_is_not_smaller() {
        let mut oracle = Oracle::resume(Timestamp(7), []);
        let ahead = Timestamp(7 + 2 * LEASE);
        assert_eq!(step(&mut oracle, Event::Tick), [Effect::Lease(ahead)]);
        // It is not durable yet when somebody needs a timestamp.
        assert_eq!(step(&mut oracle, Event::Next { count: 1 }), [Effect::Lease(ahead)]);
    }

    #[test]
    fn what_has_ended_everywhere_is_forgotten() {
        let outcomes = (1..=OUTCOMES_KEPT as u64).map(|n| (transaction(n), Some(Timestamp(n))));
        let last = Timestamp(1 << 30);
        let rolled_back = [(transaction(1 << 20), None)];
        let mut oracle = Oracle::resume(last, outcomes.chain(rolled_back));
        let present = [ServerId(0), ServerId(1)];
        let mut settled = |server: u64, at: u64| {
            let (server, at) = (ServerId(server), Timestamp(at));
            step(&mut oracle, Event::Settled { server, at, present: &present })
        };
        assert_eq!(settled(0, 5), [], "the other may need it");
        let forgotten = [1, 2, 3].map(|number| Effect::Forget(transaction(number)));
        assert_eq!(settled(1, 3), forgotten);
        assert_eq!(settled(1, 2), [], "a late message, and few are left");
        let known = |oracle: &mut Oracle, number| step(oracle, Event::Ask(transaction(number)));
        assert_eq!(known(&mut oracle, 4), [Effect::Tell(Some(Timestamp(4)))]);
        assert_eq!(known(&mut oracle, 1 << 20), [Effect::Tell(None)]);
    }

    #[test]
    fn it_does_not_remember_for_ever() {
        let mut oracle = Oracle::new(Timestamp::ZERO);
        for number in 0..REMEMBERED as u64 + 10 {
            step(&mut oracle, Event::Ask(transaction(number)));
        }
        assert_eq!(oracle.outcomes.len(), REMEMBERED);
    }
}
