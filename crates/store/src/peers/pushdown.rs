//! The steps and results of DML pushdowns.

use super::Write;
use crate::Error;
use bucket::IndexChanges;
use futures::stream::BoxStream;
use sdds::KeyRange;

/// A step of a pushdown, as computed by an owner.
#[derive(Debug, Clone)]
pub enum PushdownStep {
    /// Rows to be written, in key order. They are all results between their first and last key.
    Write(Write),
    /// Keys that are not owned here, so the pushdown has no result for them.
    NotHere(Vec<KeyRange>),
}

/// The steps of a pushdown.
pub type PushdownSteps = BoxStream<'static, Result<PushdownStep, Error>>;

/// The result of a pushdown on one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Number of rows changed.
    pub rows: u64,
    /// Keys that the server does not own, so that their rows were not changed.
    pub rest: Vec<KeyRange>,
    /// What changes in indexes.
    pub entries: IndexChanges,
}

impl Changed {
    /// Adds another result.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.rest.extend(other.rest);
        self.entries.add(other.entries);
    }

    /// Converts the rest into disjoint ranges in key order, restricted to `asked`: keys between
    /// them may have been sent to another server.
    pub fn of(self, asked: &[KeyRange]) -> Self {
        let Self { rows, rest: mut left, entries } = self;
        left.sort_by(|one, other| one.low.cmp(&other.low));
        let mut rest: Vec<KeyRange> = Vec::new();
        for range in left {
            match rest.last_mut() {
                Some(last) if range.low <= last.high => {
                    last.high = range.high.max(last.high.clone());
                }
                _ => rest.push(range),
            }
        }
        let asked_of = |range: &KeyRange| {
            let first = asked.partition_point(|asked| asked.high <= range.low);
            let parts = asked[first..].iter().map_while(|asked| asked.intersect(range));
            parts.collect::<Vec<_>>()
        };
        Self { rows, rest: rest.iter().flat_map(asked_of).collect(), entries }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::{Bound, Key};

    #[test]
    fn what_is_left_is_part_of_what_was_asked_for() {
        let key = |byte: u8| Bound::At(Key::from(&[byte][..]));
        let range = |low: u8, high: u8| KeyRange { low: key(low), high: key(high) };
        let asked = [range(10, 20), range(30, 40), range(50, 60)];
        let left = |rest: Vec<KeyRange>| Changed { rows: 3, rest, ..Changed::default() }.of(&asked);
        let across = left(vec![range(35, 52), range(15, 18), range(12, 16)]);
        assert_eq!(across.rest, [range(12, 18), range(35, 40), range(50, 52)]);
        assert_eq!(across.rows, 3);
        assert_eq!(left(vec![KeyRange::all()]).rest, asked);
        assert_eq!(left(vec![range(20, 30), range(60, 90)]).rest, []);
        assert_eq!(left(vec![range(32, 34), range(34, 36)]).rest, [range(32, 36)]);
    }
}
