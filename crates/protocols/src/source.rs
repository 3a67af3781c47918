//! The source of a move: it gives keys with their rows to another server, while both serve requests.
//!
//! ```text
//!  source                                           destination
//!  Offering       ── the range ──────────────────>   begins to receive
//!  Copying        ── all rows, then changes ─────>   keeps them apart
//!  Logging           the keys are frozen
//!  HandingOver    ── the last changes ───────────>   owns the keys, durably
//!  Over           <───────────────── it has them ──
//! ```
//!
//! Before the keys are frozen, a failure ends the move and nothing has happened. After that they are served again only
//! when it is certain that the destination does not adopt them, now or later: while that is not known, in state `Asking`,
//! it is asked.
//!
//! Invariants: the destination is not told to adopt keys before their freeze is durable, since a restart would serve
//! them again; frozen keys are dropped or thawed once; a source that stops leaves them frozen, and its next start
//! [asks](Source::returned).

use crate::planted::{Bug, is_planted};

/// How often a freeze is tried while transactions have written to the rows, before the move is aborted.
pub const FREEZES_MAX: u32 = 100;

/// Bytes of a round of changes that are few enough to freeze.
pub const REST_BYTES: u64 = 64 << 10;

/// Rounds between two tries to freeze. Rows that are written faster than they are sent would otherwise never move.
pub const ROUNDS_MAX: u32 = 10;

/// What has happened. `E` is an error, for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<E> {
    /// The destination has begun to receive, or refuses; also if it does not answer.
    Offered(Result<(), E>),
    /// So many bytes of changes have arrived there, or not all of them.
    Sent(Result<u64, E>),
    /// The keys are frozen, or cannot be.
    Frozen(Result<(), Obstacle<E>>),
    /// The freeze is durable, or cannot be.
    Logged(Result<(), E>),
    /// The destination has been told to adopt the keys, or has been asked.
    Answered(Answer<E>),
    /// This server stops.
    Stopped(E),
}

/// Why keys cannot be frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle<E> {
    /// Transactions that run have written to them.
    Busy(E),
    /// Any other.
    Other(E),
}

/// What is known of the destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<E> {
    /// It has adopted the keys.
    Adopted,
    /// It has not, and will not.
    Refused(E),
    /// It was told to adopt them, and did not answer; or it was asked, and did not.
    Lost,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect<E> {
    /// Ask the destination to receive the keys.
    Offer,
    /// Send what it does not have. If it `waits`, transactions that have written to the keys get time to end before.
    Send {
        /// Whether it does.
        waits: bool,
    },
    /// Freeze the keys.
    Freeze,
    /// Wait until the freeze is durable.
    Log,
    /// Send the last changes, and tell the destination to adopt the keys.
    HandOver,
    /// Ask the destination whether it has adopted them. It discards the move if it has not. If it `waits`, after a pause.
    Ask {
        /// Whether it does.
        waits: bool,
    },
    /// Drop the keys, and tell the directory who has them.
    Drop,
    /// Serve the keys again.
    Thaw,
    /// Tell the destination to discard the move.
    CallOff,
    /// The move has ended.
    End(Result<(), E>),
}

/// The source of one move.
#[derive(Debug)]
pub struct Source(State);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Offering,
    Copying {
        /// Rounds since the last try to freeze, with the one that is under way.
        rounds: u32,
        freezes: u32,
    },
    Freezing {
        freezes: u32,
    },
    Logging,
    HandingOver,
    Asking,
    Over,
}

impl State {
    /// Whether the keys are frozen because of the move.
    fn has_frozen(self) -> bool {
        matches!(self, Self::Logging | Self::HandingOver | Self::Asking)
    }
}

impl Source {
    /// Begins a move.
    pub fn begin<E>(effects: &mut Vec<Effect<E>>) -> Self {
        effects.push(Effect::Offer);
        Self(State::Offering)
    }

    /// A move of an earlier start of this server, which has left its keys frozen.
    pub fn returned<E>(effects: &mut Vec<Effect<E>>) -> Self {
        effects.push(Effect::Ask { waits: false });
        Self(State::Asking)
    }

    /// Takes an event. A repeated or late one has no effect.
    pub fn step<E>(&mut self, event: Event<E>, effects: &mut Vec<Effect<E>>) {
        let (was, before) = (self.0, effects.len());
        match (self.0, event) {
            (State::Offering, Event::Offered(Ok(()))) => self.send(0, effects),
            (State::Offering, Event::Offered(Err(error))) => {
                // What has been begun there without an answer ends by itself.
                self.0 = State::Over;
                effects.push(Effect::End(Err(error)));
            }
            (State::Copying { rounds, freezes }, Event::Sent(Ok(bytes))) => {
                if bytes <= REST_BYTES || rounds == ROUNDS_MAX {
                    self.0 = State::Freezing { freezes };
                    effects.push(Effect::Freeze);
                } else {
                    self.0 = State::Copying { rounds: rounds + 1, freezes };
                    effects.push(Effect::Send { waits: false });
                }
            }
            (State::Copying { .. }, Event::Sent(Err(error))) => self.call_off(error, effects),
            (State::Freezing { .. }, Event::Frozen(Ok(()))) => {
                if is_planted(Bug::FreezeInMemory) {
                    self.hand_over(effects);
                } else {
                    self.0 = State::Logging;
                    effects.push(Effect::Log);
                }
            }
            (State::Freezing { freezes }, Event::Frozen(Err(Obstacle::Busy(error)))) => {
                if freezes == FREEZES_MAX {
                    self.call_off(error, effects);
                } else {
                    self.send(freezes + 1, effects);
                }
            }
            (State::Freezing { .. }, Event::Frozen(Err(Obstacle::Other(error)))) => {
                self.call_off(error, effects);
            }
            (State::Logging, Event::Logged(Ok(()))) => self.hand_over(effects),
            // The log has stopped: the next start knows whether they are frozen.
            (State::Logging, Event::Logged(Err(error))) => self.call_off(error, effects),
            (State::HandingOver | State::Asking, Event::Answered(answer)) => {
                self.on_answer(answer, effects);
            }
            (State::Over, Event::Stopped(_)) => {}
            (_, Event::Stopped(error)) => {
                self.0 = State::Over;
                effects.push(Effect::End(Err(error)));
            }
            (
                _,
                Event::Offered(_)
                | Event::Sent(_)
                | Event::Frozen(_)
                | Event::Logged(_)
                | Event::Answered(_),
            ) => {}
        }
        self.assert_state();
        self.assert_step(was, &effects[before..]);
    }

    /// Whether the move has ended.
    pub fn is_over(&self) -> bool {
        self.0 == State::Over
    }

    fn send<E>(&mut self, freezes: u32, effects: &mut Vec<Effect<E>>) {
        self.0 = State::Copying { rounds: 1, freezes };
        effects.push(Effect::Send { waits: freezes > 0 });
    }

    fn hand_over<E>(&mut self, effects: &mut Vec<Effect<E>>) {
        self.0 = State::HandingOver;
        effects.push(Effect::HandOver);
    }

    fn on_answer<E>(&mut self, answer: Answer<E>, effects: &mut Vec<Effect<E>>) {
        match answer {
            Answer::Adopted => {
                self.0 = State::Over;
                effects.extend([Effect::Drop, Effect::End(Ok(()))]);
            }
            Answer::Refused(error) => {
                effects.push(Effect::Thaw);
                self.call_off(error, effects);
            }
            Answer::Lost => {
                let waits = self.0 == State::Asking;
                self.0 = State::Asking;
                effects.push(Effect::Ask { waits });
            }
        }
    }

    /// Aborts a move of which the destination may have received something.
    fn call_off<E>(&mut self, error: E, effects: &mut Vec<Effect<E>>) {
        self.0 = State::Over;
        effects.extend([Effect::CallOff, Effect::End(Err(error))]);
    }

    fn assert_state(&self) {
        match self.0 {
            State::Copying { rounds, freezes } => {
                assert!((1..=ROUNDS_MAX).contains(&rounds), "rounds between freezes are limited");
                assert!(freezes <= FREEZES_MAX, "tries to freeze are limited");
            }
            State::Freezing { freezes } => assert!(freezes <= FREEZES_MAX, "tries are limited"),
            State::Offering | State::Logging | State::HandingOver | State::Asking | State::Over => {
            }
        }
    }

    /// Asserts that what is to be done fits the states before and after a step.
    fn assert_step<E>(&self, was: State, effects: &[Effect<E>]) {
        assert!(was != State::Over || self.is_over(), "a move that has ended does not go on");
        assert!(was != State::Over || effects.is_empty(), "nothing is left to do");
        let has_frozen = self.0.has_frozen();
        let were_frozen = was.has_frozen();
        assert!(!were_frozen || has_frozen || self.is_over(), "frozen keys are frozen to the end");
        let count = |wanted: fn(&Effect<E>) -> bool| effects.iter().filter(|e| wanted(e)).count();
        let settled = count(|effect| matches!(effect, Effect::Drop | Effect::Thaw));
        assert!(settled <= 1, "frozen keys are dropped or thawed");
        assert!(
            settled == 0 || (were_frozen && self.is_over()),
            "only frozen keys are, at the end"
        );
        let ended = count(|effect| matches!(effect, Effect::End(_)));
        let ends = was != State::Over && self.is_over();
        assert_eq!(ended, usize::from(ends), "a move ends once");
        let is_told = count(|effect| matches!(effect, Effect::HandOver)) > 0;
        assert!(!is_told || self.0 == State::HandingOver, "only frozen keys are handed over");
        let is_durable = was == State::Logging || is_planted(Bug::FreezeInMemory);
        assert!(!is_told || is_durable, "nobody is told of a freeze that is not durable");
        let is_asked = count(|effect| matches!(effect, Effect::Ask { .. })) > 0;
        assert!(!is_asked || self.0 == State::Asking, "who was told to adopt is asked");
        let is_sent = count(|effect| matches!(effect, Effect::Send { .. } | Effect::Freeze)) > 0;
        assert!(!is_sent || !(were_frozen || has_frozen), "frozen keys do not change");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Effects = Vec<Effect<&'static str>>;

    fn step(source: &mut Source, event: Event<&'static str>) -> Effects {
        let mut effects = Vec::new();
        source.step(event, &mut effects);
        effects
    }

    /// A source whose destination has all but the last changes.
    fn copied() -> Source {
        let mut effects = Effects::new();
        let mut source = Source::begin(&mut effects);
        assert_eq!(effects, [Effect::Offer]);
        assert_eq!(step(&mut source, Event::Offered(Ok(()))), [Effect::Send { waits: false }]);
        assert_eq!(step(&mut source, Event::Sent(Ok(0))), [Effect::Freeze]);
        source
    }

    /// A source that has told its destination to adopt the keys.
    fn handing_over() -> Source {
        let mut source = copied();
        assert_eq!(step(&mut source, Event::Frozen(Ok(()))), [Effect::Log]);
        assert_eq!(step(&mut source, Event::Logged(Ok(()))), [Effect::HandOver]);
        source
    }

    fn aborted(error: &'static str) -> [Effect<&'static str>; 2] {
        [Effect::CallOff, Effect::End(Err(error))]
    }

    #[test]
    fn keys_are_dropped_when_the_destination_has_them() {
        let mut source = handing_over();
        let effects = step(&mut source, Event::Answered(Answer::Adopted));
        assert_eq!(effects, [Effect::Drop, Effect::End(Ok(()))]);
        assert_eq!(step(&mut source, Event::Answered(Answer::Refused("late"))), []);
        assert_eq!(step(&mut source, Event::Stopped("late")), []);
    }

    #[test]
    fn keys_are_served_again_when_it_is_certain_that_the_destination_does_not_take_them() {
        let mut source = handing_over();
        let effects = step(&mut source, Event::Answered(Answer::Refused("no")));
        assert_eq!(effects[0], Effect::Thaw);
        assert_eq!(effects[1..], aborted("no"));
    }

    #[test]
    fn a_lost_answer_is_asked_for_as_long_as_it_takes() {
        let mut source = handing_over();
        let lost = || Event::Answered(Answer::Lost);
        assert_eq!(step(&mut source, lost()), [Effect::Ask { waits: false }]);
        for _ in 0..1_000 {
            assert_eq!(step(&mut source, lost()), [Effect::Ask { waits: true }]);
        }
        let effects = step(&mut source, Event::Answered(Answer::Adopted));
        assert_eq!(effects, [Effect::Drop, Effect::End(Ok(()))]);
    }

    #[test]
    fn a_source_that_stops_leaves_keys_frozen_and_its_next_start_asks() {
        let mut source = handing_over();
        let effects = step(&mut source, Event::Stopped("stopped"));
        assert_eq!(effects, [Effect::End(Err("stopped"))]);
        let mut effects = Effects::new();
        let mut source = Source::returned(&mut effects);
        assert_eq!(effects, [Effect::Ask { waits: false }]);
        let effects = step(&mut source, Event::Answered(Answer::Refused("no")));
        assert_eq!(effects[0], Effect::Thaw);
    }

    #[test]
    fn a_freeze_that_is_not_durable_is_told_to_nobody() {
        let mut source = copied();
        step(&mut source, Event::Frozen(Ok(())));
        assert_eq!(step(&mut source, Event::Logged(Err("disk"))), aborted("disk"));
    }

    #[test]
    fn rounds_are_sent_until_little_is_left_or_long_enough() {
        let mut source = Source::begin(&mut Effects::new());
        step(&mut source, Event::Offered(Ok(())));
        for _ in 1..ROUNDS_MAX {
            let effects = step(&mut source, Event::Sent(Ok(REST_BYTES + 1)));
            assert_eq!(effects, [Effect::Send { waits: false }]);
        }
        assert_eq!(step(&mut source, Event::Sent(Ok(REST_BYTES + 1))), [Effect::Freeze]);
    }

    #[test]
    fn keys_that_are_written_all_the_time_stay() {
        let mut source = copied();
        for _ in 0..FREEZES_MAX {
            let busy = Event::Frozen(Err(Obstacle::Busy("busy")));
            assert_eq!(step(&mut source, busy), [Effect::Send { waits: true }]);
            assert_eq!(step(&mut source, Event::Sent(Ok(1))), [Effect::Freeze]);
        }
        let busy = Event::Frozen(Err(Obstacle::Busy("busy")));
        assert_eq!(step(&mut source, busy), aborted("busy"));
        let other = Event::Frozen(Err(Obstacle::Other("gone")));
        assert_eq!(step(&mut copied(), other), aborted("gone"));
    }

    #[test]
    fn a_destination_that_does_not_begin_gets_nothing() {
        let mut source = Source::begin(&mut Effects::new());
        let effects = step(&mut source, Event::Offered(Err("down")));
        assert_eq!(effects, [Effect::End(Err("down"))]);
    }
}
