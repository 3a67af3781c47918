//! The coordinator of a transaction that commits, on the server of its client.
//!
//! ```text
//!              all are ready            the root commits
//!  Preparing ----------------> Deciding ----------------> Committing --> Over
//!      | one refuses            |     | the answer is lost                ^
//!      v                        |     v                                   |
//!  Over, rolled back <----------+--- Asking ------------------------------+
//!                     it is refused   | nobody knows
//!                                     v
//!                                    Over, unknown: the own part waits for the root as the others do
//! ```
//!
//! Invariants: nobody is told an outcome before the root has decided, except that of a transaction that the root was
//! never asked to commit; the client is answered once, last.

use sdds::{GroupId, Timestamp};
use std::collections::BTreeSet;

/// How often the root is asked for an outcome before the client is told that it is unknown.
pub const QUESTIONS_MAX: u32 = 12;

/// What a transaction takes part in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// The other groups that prepare, each once.
    pub others: Vec<GroupId>,
    /// Whether it has written on the coordinator.
    pub is_here: bool,
    /// If it changes the catalog: the version of the list of members, all of which take part.
    pub members: Option<u64>,
}

/// What has happened. `E` is an error for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<E> {
    /// A group is ready to commit, or refuses; also if it does not answer.
    Prepared(GroupId, Result<(), E>),
    /// The own part is durable, or cannot be.
    Kept(Result<(), E>),
    /// The root has answered to [`Effect::Decide`], [`Effect::TakeTimestamp`] or [`Effect::AskOutcome`].
    Decided(Answer<E>),
    /// The own part is committed, as durably as promised, or the disk has failed.
    Committed(Result<(), E>),
}

/// What the root says about a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<E> {
    /// It is committed.
    Committed(Timestamp),
    /// It is rolled back for good: because a participant has asked before, or for a reason.
    RolledBack(Option<E>),
    /// It is not committed, and the root was not reached.
    NotAsked(E),
    /// The root may have decided, and did not answer.
    Lost(E),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect<E> {
    /// Ask a group to prepare.
    Prepare(GroupId),
    /// Make the own part durable.
    KeepHere,
    /// Take a timestamp of the root: nobody else needs to know the outcome.
    TakeTimestamp,
    /// Ask the root to commit.
    Decide,
    /// Ask the root for the outcome, after a pause unless it is the first question.
    AskOutcome {
        /// Questions before this one.
        asked: u32,
    },
    /// Commit the own part.
    CommitHere(Timestamp),
    /// Roll the own part back.
    RollBackHere,
    /// Hold the own part until the root says how the transaction ends.
    HoldHere,
    /// Tell a group that the transaction is committed.
    TellCommitted(GroupId, Timestamp),
    /// Tell a group that the transaction is rolled back.
    TellRolledBack(GroupId),
    /// Answer the client.
    Reply(Reply<E>),
}

/// The answer to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<E> {
    /// It is committed.
    Committed(Timestamp),
    /// Nothing has changed, for a reason.
    Failed(E),
    /// Nothing has changed: a participant has waited too long.
    RolledBack,
    /// It is not known whether it is committed.
    Unknown,
}

/// The coordinator of one transaction.
#[derive(Debug)]
pub struct Coordinator<E> {
    parts: Parts,
    state: State<E>,
}

#[derive(Debug)]
enum State<E> {
    Preparing {
        /// Groups that have not answered.
        waiting: BTreeSet<GroupId>,
        /// Whether the own part is not durable yet.
        keeps: bool,
        /// The first refusal.
        refused: Option<E>,
    },
    Deciding,
    Asking {
        asked: u32,
    },
    Committing(Timestamp),
    Over,
}

/// How far a commit is, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Preparing,
    /// The root may have decided.
    Undecided,
    Committing,
    Over,
}

impl<E> Coordinator<E> {
    /// Begins the commit.
    pub fn begin(parts: Parts, effects: &mut Vec<Effect<E>>) -> Self {
        let waiting: BTreeSet<GroupId> = parts.others.iter().copied().collect();
        assert_eq!(waiting.len(), parts.others.len(), "each group prepares once");
        effects.extend(parts.others.iter().map(|group| Effect::Prepare(*group)));
        // Nobody else has to be told: a part that is lost was never acknowledged.
        let keeps = parts.is_here && !parts.is_alone();
        if keeps {
            effects.push(Effect::KeepHere);
        }
        let state = State::Preparing { waiting, keeps, refused: None };
        let mut coordinator = Self { parts, state };
        coordinator.decide_if_ready(effects);
        coordinator.assert_state();
        coordinator
    }

    /// Takes an event. A repeated or late one has no effect.
    pub fn step(&mut self, event: Event<E>, effects: &mut Vec<Effect<E>>) {
        let (was, before) = (self.phase(), effects.len());
        self.take(event, effects);
        self.assert_state();
        self.assert_step(was, &effects[before..]);
    }

    fn take(&mut self, event: Event<E>, effects: &mut Vec<Effect<E>>) {
        match event {
            Event::Prepared(group, answer) => {
                let State::Preparing { waiting, refused, .. } = &mut self.state else { return };
                if waiting.remove(&group) {
                    note_refusal(refused, answer);
                    self.decide_if_ready(effects);
                }
            }
            Event::Kept(kept) => {
                let State::Preparing { keeps, refused, .. } = &mut self.state else { return };
                if std::mem::replace(keeps, false) {
                    note_refusal(refused, kept);
                    self.decide_if_ready(effects);
                }
            }
            Event::Decided(answer) => self.on_answer(answer, effects),
            Event::Committed(committed) => {
                let State::Committing(timestamp) = self.state else { return };
                self.state = State::Over;
                effects.push(Effect::Reply(match committed {
                    Ok(()) => Reply::Committed(timestamp),
                    Err(error) => Reply::Failed(error),
                }));
            }
        }
    }

    /// Whether the client has its answer.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    fn decide_if_ready(&mut self, effects: &mut Vec<Effect<E>>) {
        let State::Preparing { waiting, keeps, refused } = &mut self.state else { return };
        if !waiting.is_empty() || *keeps {
            return;
        }
        match refused.take() {
            Some(error) => self.roll_back(Reply::Failed(error), effects),
            None => {
                self.state = State::Deciding;
                let is_alone = self.parts.is_alone();
                effects.push(if is_alone { Effect::TakeTimestamp } else { Effect::Decide });
            }
        }
    }

    fn on_answer(&mut self, answer: Answer<E>, effects: &mut Vec<Effect<E>>) {
        let asked = match self.state {
            State::Deciding => 0,
            State::Asking { asked } => asked,
            // Another answer was faster.
            State::Preparing { .. } | State::Committing(_) | State::Over => return,
        };
        match answer {
            Answer::Committed(timestamp) => self.commit(timestamp, effects),
            Answer::RolledBack(None) => self.roll_back(Reply::RolledBack, effects),
            Answer::RolledBack(Some(error)) => self.roll_back(Reply::Failed(error), effects),
            // No outcome is known of a transaction without other participants, and none is needed.
            Answer::NotAsked(error) | Answer::Lost(error) if self.parts.others.is_empty() => {
                self.roll_back(Reply::Failed(error), effects);
            }
            Answer::NotAsked(error) if matches!(self.state, State::Deciding) => {
                self.roll_back(Reply::Failed(error), effects);
            }
            Answer::NotAsked(_) | Answer::Lost(_) if asked < QUESTIONS_MAX => {
                self.state = State::Asking { asked: asked + 1 };
                effects.push(Effect::AskOutcome { asked });
            }
            Answer::NotAsked(_) | Answer::Lost(_) => {
                self.state = State::Over;
                if self.parts.is_here {
                    effects.push(Effect::HoldHere);
                }
                effects.push(Effect::Reply(Reply::Unknown));
            }
        }
    }

    fn commit(&mut self, timestamp: Timestamp, effects: &mut Vec<Effect<E>>) {
        let others = self.parts.others.iter();
        effects.extend(others.map(|group| Effect::TellCommitted(*group, timestamp)));
        if self.parts.is_here {
            self.state = State::Committing(timestamp);
            effects.push(Effect::CommitHere(timestamp));
        } else {
            self.state = State::Over;
            effects.push(Effect::Reply(Reply::Committed(timestamp)));
        }
    }

    fn roll_back(&mut self, reply: Reply<E>, effects: &mut Vec<Effect<E>>) {
        if self.parts.is_here {
            effects.push(Effect::RollBackHere);
        }
        effects.extend(self.parts.others.iter().map(|group| Effect::TellRolledBack(*group)));
        effects.push(Effect::Reply(reply));
        self.state = State::Over;
    }

    fn phase(&self) -> Phase {
        match self.state {
            State::Preparing { .. } => Phase::Preparing,
            State::Deciding | State::Asking { .. } => Phase::Undecided,
            State::Committing(_) => Phase::Committing,
            State::Over => Phase::Over,
        }
    }

    /// Asserts that the state is one that lasts.
    fn assert_state(&self) {
        match &self.state {
            State::Preparing { waiting, keeps, .. } => {
                assert!(*keeps || !waiting.is_empty(), "it waits for something");
                assert!(!keeps || self.parts.is_here, "only an own part is made durable");
                let others = &self.parts.others;
                assert!(waiting.iter().all(|group| others.contains(group)), "others are awaited");
            }
            State::Asking { asked } => {
                assert!((1..=QUESTIONS_MAX).contains(asked), "the root was asked");
                assert!(!self.parts.others.is_empty(), "nobody else needs the outcome");
            }
            State::Committing(_) => assert!(self.parts.is_here, "there is an own part to commit"),
            State::Deciding | State::Over => {}
        }
    }

    /// Asserts that what is to be done fits the phases before and after a step.
    fn assert_step(&self, was: Phase, effects: &[Effect<E>]) {
        let now = self.phase();
        assert!(was <= now, "a commit goes on, and not back");
        let count = |wanted: fn(&Effect<E>) -> bool| effects.iter().filter(|e| wanted(e)).count();
        let replies = count(|effect| matches!(effect, Effect::Reply(_)));
        let is_first = was != Phase::Over && now == Phase::Over;
        assert_eq!(replies, usize::from(is_first), "the client is answered once");
        assert!(replies == 0 || matches!(effects.last(), Some(Effect::Reply(_))), "and last");
        let committed =
            count(|effect| matches!(effect, Effect::TellCommitted(..) | Effect::CommitHere(_)));
        assert!(committed == 0 || was == Phase::Undecided, "the root has decided before");
        let rolled_back =
            count(|effect| matches!(effect, Effect::TellRolledBack(_) | Effect::RollBackHere));
        assert!(rolled_back == 0 || committed == 0, "there is one outcome");
        assert!(rolled_back == 0 || is_first, "a transaction that is rolled back is over");
        let own = count(|effect| {
            matches!(effect, Effect::CommitHere(_) | Effect::RollBackHere | Effect::HoldHere)
        });
        assert!(own <= usize::from(self.parts.is_here), "an own part has one end");
        let prepares = count(|effect| matches!(effect, Effect::Prepare(_) | Effect::KeepHere));
        assert_eq!(prepares, 0, "all are asked to prepare at the beginning");
    }
}

impl Parts {
    /// Whether it has written on the coordinator alone, and changes no definition.
    fn is_alone(&self) -> bool {
        self.others.is_empty() && self.members.is_none()
    }
}

fn note_refusal<E>(refused: &mut Option<E>, answer: Result<(), E>) {
    if let Err(error) = answer {
        refused.get_or_insert(error);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: GroupId = GroupId(1);
    const TWO: GroupId = GroupId(2);
    const AT: Timestamp = Timestamp(7);

    type Effects = Vec<Effect<&'static str>>;

    fn begin(others: &[GroupId], is_here: bool) -> (Coordinator<&'static str>, Effects) {
        let mut effects = Vec::new();
        let parts = Parts { others: others.to_vec(), is_here, members: None };
        let coordinator = Coordinator::begin(parts, &mut effects);
        (coordinator, effects)
    }

    fn step(coordinator: &mut Coordinator<&'static str>, event: Event<&'static str>) -> Effects {
        let mut effects = Vec::new();
        coordinator.step(event, &mut effects);
        effects
    }

    #[test]
    fn all_prepare_before_the_root_is_asked() {
        let (mut coordinator, effects) = begin(&[ONE, TWO], true);
        assert_eq!(effects, [Effect::Prepare(ONE), Effect::Prepare(TWO), Effect::KeepHere]);
        assert_eq!(step(&mut coordinator, Event::Prepared(TWO, Ok(()))), []);
        assert_eq!(step(&mut coordinator, Event::Prepared(TWO, Ok(()))), [], "it is repeated");
        assert_eq!(step(&mut coordinator, Event::Kept(Ok(()))), []);
        assert_eq!(step(&mut coordinator, Event::Prepared(ONE, Ok(()))), [Effect::Decide]);
        let told = [Effect::TellCommitted(ONE, AT), Effect::TellCommitted(TWO, AT)];
        let effects = step(&mut coordinator, Event::Decided(Answer::Committed(AT)));
        assert_eq!(effects[..2], told);
        assert_eq!(effects[2], Effect::CommitHere(AT));
        let reply = step(&mut coordinator, Event::Committed(Ok(())));
        assert_eq!(reply, [Effect::Reply(Reply::Committed(AT))]);
        assert!(coordinator.is_over());
    }

    #[test]
    fn a_refusal_rolls_back_everywhere() {
        let (mut coordinator, _) = begin(&[ONE, TWO], true);
        step(&mut coordinator, Event::Prepared(ONE, Err("no")));
        step(&mut coordinator, Event::Kept(Err("full")));
        let effects = step(&mut coordinator, Event::Prepared(TWO, Ok(())));
        let expected = [
            Effect::RollBackHere,
            Effect::TellRolledBack(ONE),
            Effect::TellRolledBack(TWO),
            Effect::Reply(Reply::Failed("no")),
        ];
        assert_eq!(effects, expected);
        assert_eq!(step(&mut coordinator, Event::Decided(Answer::Committed(AT))), []);
    }

    #[test]
    fn a_lost_answer_is_asked_for_until_nobody_can_know() {
        let (mut coordinator, _) = begin(&[ONE], true);
        step(&mut coordinator, Event::Kept(Ok(())));
        step(&mut coordinator, Event::Prepared(ONE, Ok(())));
        for asked in 0..QUESTIONS_MAX {
            let effects = step(&mut coordinator, Event::Decided(Answer::Lost("lost")));
            assert_eq!(effects, [Effect::AskOutcome { asked }]);
        }
        // That the root was not reached this time does not say that it was not before.
        let effects = step(&mut coordinator, Event::Decided(Answer::NotAsked("down")));
        assert_eq!(effects, [Effect::HoldHere, Effect::Reply(Reply::Unknown)]);
    }

    #[test]
    fn an_outcome_that_was_asked_for_counts() {
        let (mut coordinator, _) = begin(&[ONE], false);
        step(&mut coordinator, Event::Prepared(ONE, Ok(())));
        step(&mut coordinator, Event::Decided(Answer::Lost("lost")));
        let effects = step(&mut coordinator, Event::Decided(Answer::RolledBack(None)));
        assert_eq!(effects, [Effect::TellRolledBack(ONE), Effect::Reply(Reply::RolledBack)]);
    }

    #[test]
    fn a_transaction_on_one_server_needs_a_timestamp_only() {
        let (mut coordinator, effects) = begin(&[], true);
        assert_eq!(effects, [Effect::TakeTimestamp]);
        let effects = step(&mut coordinator, Event::Decided(Answer::Lost("lost")));
        assert_eq!(effects, [Effect::RollBackHere, Effect::Reply(Reply::Failed("lost"))]);
    }
}
