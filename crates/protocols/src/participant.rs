//! A participant of a transaction: the part of it on a server that does not coordinate it.
//!
//! ```text
//!       a request        prepare        no conflict        on disk             the outcome
//!  New ----------> Open --------> Holding --------> Keeping --------> Prepared -----------> Over
//!   |               |                |                 |                                     ^
//!   +---------------+----------------+-----------------+-------------------------------------+
//!         rolled back, or its coordinator does not know it         a conflict, the disk is full
//! ```
//!
//! Events come one at a time: a driver that carries out an effect of a part, such as staging rows, takes its next event
//! afterwards.
//!
//! Invariants: who has said that a part is prepared hears its outcome from the root, or from a coordinator that knows it.
//! That a coordinator does not know a transaction any more ends an open part, and never a prepared one: the transaction
//! may have been committed while the question travelled. Nothing is staged in a part that has ended, or in one whose
//! earlier writes are lost.
//!
//! Not here: which transactions have parts. [`Ended`] remembers which ones have none any more.

use crate::planted::{Bug, is_planted};
use sdds::{Timestamp, TransactionId};
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

/// What every request of a coordinator says about its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The number of the newest savepoint.
    pub savepoint: u64,
    /// Whether there are changes of the catalog that the part does not have yet.
    pub has_changes: bool,
    /// Whether the transaction has certainly written here. A part that does not know that is a new one, after a restart
    /// that has lost what was written.
    pub has_written: bool,
}

/// What has happened. Events with a [`Request`] are messages of the coordinator; one that comes late finds the part over,
/// and is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It wants to read.
    Read(Request),
    /// It wants to write, as part of a step: how often it had rolled back to a savepoint.
    Write(Request, u64),
    /// The rows of a write are staged, or none of them; with the savepoint of its request.
    Staged {
        /// The number of the newest savepoint.
        savepoint: u64,
        /// Whether they are.
        is_done: bool,
    },
    /// It has rolled back to a savepoint. Writes of steps before are late.
    RollBackTo {
        /// The number of the savepoint.
        savepoint: u64,
        /// The step that begins.
        step: u64,
    },
    /// It wants to commit.
    Prepare(Request),
    /// The writes, if there are any, are held, or cannot be.
    Held(Result<HasWrites, ()>),
    /// The held writes are durable, or cannot be.
    Kept(Result<(), ()>),
    /// The outcome, of the root or of the coordinator: the timestamp of the commit.
    Outcome(Option<Timestamp>),
    /// The coordinator does not know the transaction, or is lost.
    Abandoned,
    /// Time has passed. A part that has heard nothing for so long asks.
    Tick {
        /// How long.
        silence: Duration,
    },
}

/// Whether a part has writes.
pub type HasWrites = bool;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Begin to read and write, at the timestamp of the request.
    Begin,
    /// Apply the changes of the catalog that the part does not have. If `marks`, the state before becomes the newest
    /// savepoint.
    Change {
        /// Whether it does.
        marks: bool,
    },
    /// Read, or stage the rows.
    Serve,
    /// The state before the staged rows becomes the newest savepoint.
    Mark,
    /// Roll back to the savepoint at this place, and forget it and later ones.
    RollBackTo(usize),
    /// Check for conflicts, and hold what is written.
    Hold,
    /// Make what is held durable.
    Keep,
    /// Say that the part is prepared.
    SayPrepared,
    /// Commit what is held.
    Commit(Timestamp),
    /// Discard all of it.
    Discard,
    /// Ask the root for the outcome.
    AskRoot,
    /// Ask the coordinator whether the transaction runs.
    AskCoordinator,
    /// Refuse the request.
    Refuse(Refusal),
}

/// Why a request is refused. The transaction cannot commit then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The part has ended, or has lost what was written.
    Ended,
    /// The write was rolled back before it arrived.
    Late,
}

/// The part of one transaction.
#[derive(Debug)]
pub struct Participant {
    state: State,
    /// The numbers of the savepoints that have a state, which is the one before the first write with this number or a
    /// later one.
    marks: Vec<u64>,
    /// Writes of earlier steps were rolled back before they arrived.
    first_step: u64,
    /// Whether a write was staged.
    has_written: bool,
    /// When the coordinator was heard, or asked.
    heard: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was read or written yet.
    New,
    Open,
    Holding,
    Keeping,
    Prepared {
        since: Duration,
    },
    Over,
}

impl Participant {
    /// A part of which nothing is known yet.
    pub fn new(now: Duration) -> Self {
        Self::with(State::New, now)
    }

    /// A part that was prepared before, by an earlier start of the server, or by a coordinator that does not know the
    /// outcome.
    pub fn prepared(now: Duration) -> Self {
        Self::with(State::Prepared { since: now }, now)
    }

    fn with(state: State, heard: Duration) -> Self {
        Self { state, marks: Vec::new(), first_step: 0, has_written: false, heard }
    }

    /// Takes an event at a time, and returns what is to be done, in order.
    pub fn step(&mut self, now: Duration, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        let (was, first_step) = (self.state, self.first_step);
        match event {
            Event::Read(request) => self.serve(now, request, &mut effects),
            Event::Write(_, step) if step < self.first_step => {
                effects.push(Effect::Refuse(Refusal::Late));
            }
            Event::Write(request, _) => self.serve(now, request, &mut effects),
            Event::Staged { savepoint, is_done } => {
                assert_eq!(self.state, State::Open, "rows are staged in an open part");
                if is_done {
                    self.has_written = true;
                    effects.extend(self.mark(savepoint).then_some(Effect::Mark));
                }
            }
            Event::RollBackTo { savepoint, step } => {
                self.heard = now;
                self.first_step = self.first_step.max(step);
                self.roll_back_to(savepoint, &mut effects);
            }
            Event::Prepare(request) => self.on_prepare(now, request, &mut effects),
            Event::Held(held) => {
                assert_eq!(self.state, State::Holding, "nothing is held unasked");
                match held {
                    Err(()) => self.state = State::Over,
                    Ok(true) if !is_planted(Bug::PreparedInMemory) => {
                        self.state = State::Keeping;
                        effects.push(Effect::Keep);
                    }
                    // Nothing is lost in a restart.
                    Ok(_) => self.say_prepared(now, &mut effects),
                }
            }
            Event::Kept(kept) => {
                assert_eq!(self.state, State::Keeping, "nothing is kept unasked");
                match kept {
                    Err(()) => self.state = State::Over,
                    Ok(()) => self.say_prepared(now, &mut effects),
                }
            }
            Event::Outcome(outcome) => self.end(outcome, &mut effects),
            Event::Abandoned => {
                if !self.is_prepared() {
                    self.end(None, &mut effects);
                }
            }
            Event::Tick { silence } => effects.extend(self.question(now, silence)),
        }
        self.assert_invariants();
        self.assert_step(was, &effects);
        assert!(first_step <= self.first_step, "a write that was late stays late");
        effects
    }

    /// Whether the part is prepared.
    pub fn is_prepared(&self) -> bool {
        matches!(self.state, State::Prepared { .. })
    }

    /// Whether the part has ended.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// How many savepoints have a state.
    pub fn marks(&self) -> usize {
        self.marks.len()
    }

    /// Carries a request out in an open part, or refuses it.
    fn serve(&mut self, now: Duration, request: Request, effects: &mut Vec<Effect>) {
        if self.open(now, request, effects) {
            effects.push(Effect::Serve);
        }
    }

    /// Opens the part for a request, and brings its catalog up to date; false if the request is refused.
    fn open(&mut self, now: Duration, request: Request, effects: &mut Vec<Effect>) -> bool {
        self.heard = now;
        let is_lost = request.has_written && !self.has_written && !is_planted(Bug::LostWrites);
        if is_lost || !matches!(self.state, State::New | State::Open) {
            effects.push(Effect::Refuse(Refusal::Ended));
            return false;
        }
        if self.state == State::New {
            self.state = State::Open;
            effects.push(Effect::Begin);
        }
        if request.has_changes {
            effects.push(Effect::Change { marks: self.mark(request.savepoint) });
        }
        true
    }

    fn on_prepare(&mut self, now: Duration, request: Request, effects: &mut Vec<Effect>) {
        if self.is_prepared() {
            // It is repeated.
            effects.push(Effect::SayPrepared);
        } else if self.open(now, request, effects) {
            self.state = State::Holding;
            effects.push(Effect::Hold);
        }
    }

    fn say_prepared(&mut self, now: Duration, effects: &mut Vec<Effect>) {
        self.state = State::Prepared { since: now };
        effects.push(Effect::SayPrepared);
    }

    /// Whether the state before a change is to be remembered for a savepoint.
    fn mark(&mut self, savepoint: u64) -> bool {
        let is_first = self.marks.last().is_none_or(|newest| *newest < savepoint);
        if is_first {
            self.marks.push(savepoint);
        }
        is_first
    }

    fn roll_back_to(&mut self, savepoint: u64, effects: &mut Vec<Effect>) {
        let place = self.marks.partition_point(|number| *number < savepoint);
        if self.state == State::Open && place < self.marks.len() {
            self.marks.truncate(place);
            effects.push(Effect::RollBackTo(place));
        }
    }

    /// Ends the part. Only what is prepared is committed: a part that is not was never promised.
    fn end(&mut self, outcome: Option<Timestamp>, effects: &mut Vec<Effect>) {
        let was = std::mem::replace(&mut self.state, State::Over);
        match (was, outcome) {
            (State::Over, _) => {}
            (State::Prepared { .. }, Some(timestamp)) => effects.push(Effect::Commit(timestamp)),
            _ => effects.push(Effect::Discard),
        }
    }

    /// Whom to ask after a silence.
    fn question(&mut self, now: Duration, silence: Duration) -> Option<Effect> {
        let is_silent = |since: Duration| now.saturating_sub(since) > silence;
        match self.state {
            State::Prepared { since } => is_silent(since).then_some(Effect::AskRoot),
            State::New | State::Open | State::Holding | State::Keeping | State::Over => {
                is_silent(self.heard).then(|| {
                    // Once in such a time.
                    self.heard = now;
                    Effect::AskCoordinator
                })
            }
        }
    }

    fn assert_invariants(&self) {
        assert!(self.marks.is_sorted(), "later savepoints have later states");
        let is_new = self.state == State::New;
        assert!(!is_new || self.marks.is_empty(), "a new part has no savepoints");
        assert!(!is_new || !self.has_written, "a new part has no writes");
    }

    /// Asserts that what is to be done fits the states before and after a step.
    fn assert_step(&self, was: State, effects: &[Effect]) {
        let now = self.state;
        assert!(was != State::Over || now == State::Over, "nothing begins again");
        let was_prepared = matches!(was, State::Prepared { .. });
        assert!(!was_prepared || now == was || now == State::Over, "a promise is kept");
        for effect in effects {
            let fits = match effect {
                Effect::Begin => was == State::New && now != State::New,
                Effect::Change { .. } => matches!(now, State::Open | State::Holding),
                Effect::Serve | Effect::Mark | Effect::RollBackTo(_) => now == State::Open,
                Effect::Hold => now == State::Holding,
                Effect::Keep => was == State::Holding && now == State::Keeping,
                Effect::SayPrepared | Effect::AskRoot => self.is_prepared(),
                Effect::Commit(_) => was_prepared && now == State::Over,
                Effect::Discard => was != State::Over && now == State::Over,
                Effect::AskCoordinator => !self.is_prepared(),
                Effect::Refuse(_) => now == was && effects.len() == 1,
            };
            assert!(fits, "{effect:?} does not lead from {was:?} to {now:?}");
        }
    }
}

/// How many ended transactions are remembered.
const REMEMBERED: usize = 1 << 16;

/// The transactions that have ended on a server, as far as it remembers: a late message does not begin them again.
#[derive(Debug, Default)]
pub struct Ended {
    all: BTreeSet<TransactionId>,
    /// The same ids, oldest first.
    order: VecDeque<TransactionId>,
}

impl Ended {
    /// Whether a transaction has ended.
    pub fn contains(&self, transaction: TransactionId) -> bool {
        self.all.contains(&transaction)
    }

    /// Remembers that a transaction has ended, and forgets the oldest one when there are too many.
    pub fn insert(&mut self, transaction: TransactionId) {
        if self.all.insert(transaction) {
            self.order.push_back(transaction);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.all.remove(&oldest);
        }
        assert_eq!(self.all.len(), self.order.len(), "each is in both");
        assert!(self.order.len() <= REMEMBERED, "the oldest are forgotten");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Event = Event::Tick { silence: Duration::from_secs(2) };
    const AT: Timestamp = Timestamp(7);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn request(savepoint: u64) -> Request {
        Request { savepoint, has_changes: false, has_written: false }
    }

    fn written() -> Request {
        Request { has_written: true, ..request(0) }
    }

    fn step(part: &mut Participant, seconds: u64, event: Event) -> Vec<Effect> {
        part.step(at(seconds), event)
    }

    /// A part in which a row is staged.
    fn open() -> Participant {
        let mut part = Participant::new(at(0));
        let effects = step(&mut part, 0, Event::Write(request(0), 0));
        assert_eq!(effects, [Effect::Begin, Effect::Serve]);
        let staged = step(&mut part, 0, Event::Staged { savepoint: 0, is_done: true });
        assert_eq!(staged, [Effect::Mark]);
        part
    }

    fn prepared() -> Participant {
        let mut part = open();
        assert_eq!(step(&mut part, 1, Event::Prepare(written())), [Effect::Hold]);
        assert_eq!(step(&mut part, 1, Event::Held(Ok(true))), [Effect::Keep]);
        assert_eq!(step(&mut part, 1, Event::Kept(Ok(()))), [Effect::SayPrepared]);
        part
    }

    #[test]
    fn a_part_is_durable_before_it_says_that_it_is_prepared() {
        let mut part = prepared();
        let again = step(&mut part, 2, Event::Prepare(written()));
        assert_eq!(again, [Effect::SayPrepared], "it is repeated");
        assert_eq!(step(&mut part, 2, Event::Outcome(Some(AT))), [Effect::Commit(AT)]);
        assert_eq!(step(&mut part, 2, Event::Outcome(Some(AT))), [], "it is repeated");
        let late = step(&mut part, 3, Event::Write(written(), 0));
        assert_eq!(late, [Effect::Refuse(Refusal::Ended)]);
    }

    #[test]
    fn a_part_without_writes_needs_no_disk() {
        let mut part = Participant::new(at(0));
        let request = Request { has_changes: true, ..request(0) };
        let effects = step(&mut part, 0, Event::Prepare(request));
        assert_eq!(effects, [Effect::Begin, Effect::Change { marks: true }, Effect::Hold]);
        assert_eq!(step(&mut part, 0, Event::Held(Ok(false))), [Effect::SayPrepared]);
        assert_eq!(step(&mut part, 0, Event::Outcome(None)), [Effect::Discard]);
    }

    #[test]
    fn what_cannot_be_held_or_kept_is_over() {
        let mut part = open();
        step(&mut part, 1, Event::Prepare(written()));
        assert_eq!(step(&mut part, 1, Event::Held(Err(()))), []);
        assert!(part.is_over());
        let mut part = open();
        step(&mut part, 1, Event::Prepare(written()));
        step(&mut part, 1, Event::Held(Ok(true)));
        assert_eq!(step(&mut part, 1, Event::Kept(Err(()))), []);
        assert_eq!(step(&mut part, 1, Event::Prepare(written())), [Effect::Refuse(Refusal::Ended)]);
    }

    #[test]
    fn a_prepared_part_asks_the_root_and_an_open_one_its_coordinator() {
        let mut part = open();
        assert_eq!(step(&mut part, 2, TICK), []);
        assert_eq!(step(&mut part, 3, TICK), [Effect::AskCoordinator]);
        assert_eq!(step(&mut part, 4, TICK), [], "it was asked");
        let mut part = prepared();
        assert_eq!(step(&mut part, 3, TICK), []);
        assert_eq!(step(&mut part, 4, TICK), [Effect::AskRoot]);
        assert_eq!(step(&mut part, 5, TICK), [Effect::AskRoot], "until it answers");
    }

    /// A participant asked whether the transaction runs. It was prepared and committed while the question travelled, and
    /// the answer, that it does not run, was there before the outcome: the part was rolled back.
    #[test]
    fn that_a_coordinator_does_not_know_the_transaction_does_not_end_a_prepared_part() {
        let mut part = open();
        assert_eq!(step(&mut part, 3, TICK), [Effect::AskCoordinator]);
        step(&mut part, 3, Event::Prepare(written()));
        step(&mut part, 3, Event::Held(Ok(true)));
        step(&mut part, 3, Event::Kept(Ok(())));
        assert_eq!(step(&mut part, 3, Event::Abandoned), []);
        assert_eq!(step(&mut part, 4, Event::Outcome(Some(AT))), [Effect::Commit(AT)]);
        assert_eq!(step(&mut open(), 3, Event::Abandoned), [Effect::Discard]);
    }

    #[test]
    fn a_part_that_has_lost_what_was_written_refuses_to_go_on() {
        let mut part = Participant::new(at(0));
        assert_eq!(step(&mut part, 0, Event::Read(written())), [Effect::Refuse(Refusal::Ended)]);
        let write = step(&mut part, 0, Event::Write(written(), 0));
        assert_eq!(write, [Effect::Refuse(Refusal::Ended)]);
    }

    #[test]
    fn a_savepoint_has_the_state_before_its_first_write() {
        let mut part = open();
        for (savepoint, marks) in [(1, true), (1, false), (3, true)] {
            step(&mut part, 0, Event::Write(request(savepoint), 0));
            let staged = step(&mut part, 0, Event::Staged { savepoint, is_done: true });
            assert_eq!(staged == [Effect::Mark], marks, "{savepoint}");
        }
        let failed = step(&mut part, 0, Event::Staged { savepoint: 4, is_done: false });
        assert_eq!(failed, [], "nothing was written");
        let back = step(&mut part, 0, Event::RollBackTo { savepoint: 2, step: 1 });
        assert_eq!(back, [Effect::RollBackTo(2)], "to the state before the writes of 3");
        assert_eq!(part.marks(), 2);
        let late = step(&mut part, 0, Event::Write(request(3), 0));
        assert_eq!(late, [Effect::Refuse(Refusal::Late)]);
        assert_eq!(step(&mut part, 0, Event::Write(request(1), 1)), [Effect::Serve]);
        let back = step(&mut part, 0, Event::RollBackTo { savepoint: 2, step: 2 });
        assert_eq!(back, [], "nothing was written since");
    }

    #[test]
    fn ended_transactions_are_forgotten_oldest_first() {
        let id = |number| TransactionId { coordinator: sdds::ServerId(0), number };
        let mut ended = Ended::default();
        (0..REMEMBERED as u64).for_each(|number| ended.insert(id(number)));
        ended.insert(id(5));
        assert!(ended.contains(id(0)));
        ended.insert(id(REMEMBERED as u64));
        assert!(!ended.contains(id(0)) && ended.contains(id(1)));
    }
}
