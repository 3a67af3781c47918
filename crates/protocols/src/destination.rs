//! The destination of a move: it receives keys with their rows, and owns them from one message of the source on.
//!
//! ```text
//!              told to adopt            durable
//!  Receiving ----------------> Adopting --------> Over
//!      |                                           ^
//!      +-------------------------------------------+
//!        called off, asked, or the source is silent
//! ```
//!
//! Invariant: a move is adopted once or never, and who is told that it was not adopted can rely on it: a destination that
//! is asked [discards](Event::Discard) the move before it answers. What was adopted is remembered in the log, and not
//! here.

use crate::planted::{Bug, is_planted};
use std::time::Duration;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A piece of the rows has arrived.
    Piece,
    /// The source has frozen the keys, and gives them away.
    Adopt,
    /// The keys are adopted, or cannot be.
    Adopted(Result<(), ()>),
    /// The source calls the move off, or asks whether it was adopted.
    Discard,
    /// Time has passed. A move whose source was silent for so long is discarded.
    Tick {
        /// How long.
        silence: Duration,
    },
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Keep the piece.
    Keep,
    /// Own the keys, durably.
    Adopt,
    /// Discard what has been received.
    Discard,
    /// Refuse the message: the move has ended.
    Refuse,
}

/// The destination of one move.
#[derive(Debug)]
pub struct Destination {
    state: State,
    /// When the source was heard.
    heard: Duration,
}

/// In order: a move is never in an earlier state again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Receiving,
    Adopting,
    Over,
}

impl Destination {
    /// Begins to receive a move.
    pub fn begin(now: Duration) -> Self {
        Self { state: State::Receiving, heard: now }
    }

    /// Takes an event at a time, and returns what is to be done.
    pub fn step(&mut self, now: Duration, event: Event) -> Option<Effect> {
        let was = self.state;
        let effect = self.take(now, event);
        self.assert_invariants(was, event, effect);
        effect
    }

    fn take(&mut self, now: Duration, event: Event) -> Option<Effect> {
        match (self.state, event) {
            (State::Receiving, Event::Piece) => {
                self.heard = now;
                Some(Effect::Keep)
            }
            (State::Receiving, Event::Adopt) => {
                self.state = State::Adopting;
                Some(Effect::Adopt)
            }
            (State::Adopting | State::Over, Event::Piece | Event::Adopt) => Some(Effect::Refuse),
            (State::Adopting, Event::Adopted(_)) => {
                self.state = State::Over;
                None
            }
            (State::Receiving, Event::Discard) if is_planted(Bug::MoveAppliedLate) => None,
            (State::Receiving, Event::Discard) => self.discard(),
            (State::Receiving, Event::Tick { silence })
                if now.saturating_sub(self.heard) >= silence =>
            {
                self.discard()
            }
            (State::Receiving | State::Over, Event::Adopted(_)) => {
                panic!("nothing is adopted unasked")
            }
            // It is known soon whether it was adopted, and the log remembers it.
            (State::Adopting | State::Over, Event::Discard) => None,
            (State::Receiving | State::Adopting | State::Over, Event::Tick { .. }) => None,
        }
    }

    /// Whether the move has ended.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    fn discard(&mut self) -> Option<Effect> {
        self.state = State::Over;
        Some(Effect::Discard)
    }

    fn assert_invariants(&self, was: State, event: Event, effect: Option<Effect>) {
        assert!(was <= self.state, "a move goes on, and not back");
        match effect {
            Some(Effect::Keep) => assert_eq!(self.state, State::Receiving, "pieces are awaited"),
            Some(Effect::Adopt) => {
                assert_eq!((was, self.state), (State::Receiving, State::Adopting), "once");
            }
            Some(Effect::Discard) => {
                assert_eq!((was, self.state), (State::Receiving, State::Over), "not once adopted");
            }
            Some(Effect::Refuse) => {
                assert!(was != State::Receiving, "a move that runs refuses nothing");
                assert_eq!(was, self.state, "what is refused changes nothing");
            }
            None => {}
        }
        let may_adopt = self.state == State::Receiving && !is_planted(Bug::MoveAppliedLate);
        assert!(event != Event::Discard || !may_adopt, "a discarded move is not adopted later");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Event = Event::Tick { silence: Duration::from_secs(60) };

    fn step(destination: &mut Destination, seconds: u64, event: Event) -> Option<Effect> {
        destination.step(Duration::from_secs(seconds), event)
    }

    fn receiving() -> Destination {
        let mut destination = Destination::begin(Duration::ZERO);
        assert_eq!(step(&mut destination, 0, Event::Piece), Some(Effect::Keep));
        destination
    }

    #[test]
    fn a_move_is_adopted_once() {
        let mut destination = receiving();
        assert_eq!(step(&mut destination, 1, Event::Adopt), Some(Effect::Adopt));
        assert_eq!(step(&mut destination, 1, Event::Adopt), Some(Effect::Refuse));
        assert_eq!(step(&mut destination, 1, Event::Discard), None, "it is under way");
        assert_eq!(step(&mut destination, 1, Event::Adopted(Ok(()))), None);
        assert!(destination.is_over());
        assert_eq!(step(&mut destination, 1, Event::Piece), Some(Effect::Refuse));
    }

    #[test]
    fn a_move_that_was_discarded_is_not_adopted_later() {
        let mut destination = receiving();
        assert_eq!(step(&mut destination, 1, Event::Discard), Some(Effect::Discard));
        assert_eq!(step(&mut destination, 1, Event::Adopt), Some(Effect::Refuse));
        assert_eq!(step(&mut destination, 1, Event::Discard), None, "it is repeated");
    }

    #[test]
    fn a_silent_source_has_aborted() {
        let mut destination = receiving();
        assert_eq!(step(&mut destination, 30, Event::Piece), Some(Effect::Keep));
        assert_eq!(step(&mut destination, 89, TICK), None);
        assert_eq!(step(&mut destination, 90, TICK), Some(Effect::Discard));
        assert_eq!(step(&mut destination, 91, Event::Adopt), Some(Effect::Refuse));
    }
}
