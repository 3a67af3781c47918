//! The event calendar: events by time; those of the same time in the order in which they were
//! scheduled.

use super::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Scheduled events.
#[derive(Debug)]
pub struct Calendar<E> {
    events: BinaryHeap<Reverse<Entry<E>>>,
    noted: u64,
    now: Time,
}

#[derive(Debug)]
struct Entry<E> {
    at: Time,
    number: u64,
    event: E,
}

impl<E> Default for Calendar<E> {
    fn default() -> Self {
        Self { events: BinaryHeap::new(), noted: 0, now: Time::ZERO }
    }
}

impl<E> Calendar<E> {
    /// The time of the event that was taken last.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Number of events scheduled so far.
    pub fn noted(&self) -> u64 {
        self.noted
    }

    /// Schedules an event after a delay.
    pub fn note(&mut self, after: Time, event: E) {
        self.noted += 1;
        self.events.push(Reverse(Entry { at: self.now + after, number: self.noted, event }));
    }

    /// Advances to the next event; `None` if there is none.
    pub fn take(&mut self) -> Option<E> {
        let Reverse(entry) = self.events.pop()?;
        assert!(entry.at >= self.now, "time goes forward");
        self.now = entry.at;
        Some(entry.event)
    }
}

impl<E> Entry<E> {
    fn order(&self) -> (Time, u64) {
        (self.at, self.number)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_as_noted() {
        let mut calendar = Calendar::default();
        for (after, name) in [(2.0, "c"), (1.0, "a"), (2.0, "d"), (1.0, "b")] {
            calendar.note(Time::from_seconds(after), name);
        }
        let taken: Vec<&str> = std::iter::from_fn(|| calendar.take()).collect();
        assert_eq!(taken, ["a", "b", "c", "d"]);
        assert_eq!((calendar.now().seconds(), calendar.noted()), (2.0, 4));
    }
}
