//! One simulated client: its requests, and the check of the answers.

use super::random::{Random, mixed};
use super::site::{END, Operation, high_bound, key, low_bound};
use crate::directory::{Client, ClientEffect, Termination};
use crate::{ClientId, GroupId, KeyRange};

/// The mix of requests, per thousand; the rest are lookups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mix {
    pub(super) inserts: u64,
    pub(super) ranges: u64,
    /// Range of a range query: the distance between two numbers.
    pub(super) span: u64,
}

pub(super) struct Driver {
    pub(super) client: Client<Operation>,
    /// The seed of its keys.
    id: u64,
    seed: u64,
    first: GroupId,
    random: Random,
    /// Number of keys that the client of this id has inserted.
    pub(super) inserted: u64,
    asked: Asked,
    answer: u64,
}

/// The current request.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Insert,
    Lookup { is_there: bool },
    Count { low: u64, high: u64 },
}

impl Driver {
    pub(super) fn new(id: u64, first: GroupId, seed: u64) -> Self {
        Self {
            client: Client::new(ClientId(id), first),
            id,
            seed,
            first,
            random: Random::new(mixed(seed ^ mixed(id))),
            inserted: 0,
            asked: Asked::Insert,
            answer: 0,
        }
    }

    /// A new client that replaces this one: it knows one server, and the keys that this one had
    /// inserted.
    pub(super) fn succeeded(&self, first: GroupId) -> Self {
        let random = self.random.clone();
        Self { inserted: self.inserted, random, ..Self::new(self.id, first, self.seed) }
    }

    /// Sets the identifier for answers; called before the first request.
    pub(super) fn is_now(&mut self, name: u64) {
        self.client = Client::new(ClientId(name), self.first);
    }

    /// Makes a random request.
    pub(super) fn ask(&mut self, mix: &Mix, effects: &mut Vec<ClientEffect<Operation>>) {
        let choice = self.random.below(1000);
        let (asked, range, operation) = if choice < mix.inserts {
            self.inserted += 1;
            let key = self.own_key(self.inserted - 1);
            (Asked::Insert, point(key), Operation::Insert)
        } else if choice < mix.inserts + mix.ranges {
            let low = self.random.below(END - mix.span);
            let high = low + mix.span;
            let range = KeyRange { low: low_bound(low), high: high_bound(high) };
            (Asked::Count { low, high }, range, Operation::Count)
        } else {
            let (key, is_there) = self.some_key();
            (Asked::Lookup { is_there }, point(key), Operation::Lookup)
        };
        (self.asked, self.answer) = (asked, 0);
        self.client.request(range, operation, Termination::Deterministic, effects);
    }

    /// Counts the whole file.
    pub(super) fn ask_for_everything(&mut self, effects: &mut Vec<ClientEffect<Operation>>) {
        (self.asked, self.answer) = (Asked::Count { low: 0, high: END }, 0);
        let termination = Termination::Deterministic;
        self.client.request(KeyRange::all(), Operation::Count, termination, effects);
    }

    /// Adds a part of the answer.
    pub(super) fn take(&mut self, result: u64) {
        self.answer += result;
    }

    /// Whether the answer is right. `keys` are all keys, sorted, when there are no more inserts.
    pub(super) fn is_right(&self, keys: &[u64]) -> bool {
        match self.asked {
            Asked::Insert => self.answer == 1,
            Asked::Lookup { is_there } => self.answer == u64::from(is_there),
            Asked::Count { .. } if keys.is_empty() => true,
            Asked::Count { low, high } => {
                let below = |end| keys.partition_point(|key| *key < end) as u64;
                self.answer == below(high) - below(low)
            }
        }
    }

    /// All keys that the client has inserted.
    pub(super) fn own_keys(&self) -> impl Iterator<Item = u64> {
        (0..self.inserted).map(|number| self.own_key(number))
    }

    /// A random, even and unique key. Odd keys are never inserted.
    fn own_key(&self, number: u64) -> u64 {
        mixed(self.seed ^ ((number << 20 | self.id) << 1)) & !1
    }

    /// A key, and whether this client has inserted it.
    fn some_key(&mut self) -> (u64, bool) {
        let random = self.random.next();
        if self.inserted == 0 || random & 1 == 0 {
            return (random | 1, false);
        }
        let number = self.random.below(self.inserted);
        (self.own_key(number), true)
    }
}

fn point(number: u64) -> KeyRange {
    KeyRange::point(&key(number))
}
