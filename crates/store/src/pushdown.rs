//! DML pushdowns: changes of rows that each depend on the row alone. Every owner computes its own, and stages them.
//!
//! The coordinator divides the table's keys among those whom it believes to own them, and sends each of
//! them the pushdown ([`Peers::pushdown`]); its own part it does the same way. What a server computes it writes batch by batch
//! ([`PushdownStep`]). Keys that are not its own, or have left while it computed, it leaves out and gives back
//! ([`Changed::rest`]): whoever owns them now is asked for exactly those. So no row is changed twice, and none is missed. A key
//! that has been written stays: nobody gives away what an open transaction has written to.

use crate::Error;
use crate::catalog::{Table, TableId};
use crate::distributed::DistributedTransaction;
use crate::peers::{Peers, Reader, Write};
use crate::transaction::Transaction;
use crate::view::TableView;
use futures::stream::BoxStream;
use sdds::{Bound, Key, KeyRange};
use std::sync::Arc;

/// A step of an pushdown, as an owner computes it.
#[derive(Debug, Clone)]
pub enum PushdownStep {
    /// Rows to be written, in the order of their keys: of what was asked for, there are no others between them.
    Write(Write),
    /// Keys that are not here: the pushdown has no rows of them.
    NotHere(Vec<KeyRange>),
}

/// What an owner has to do for an pushdown.
pub type PushdownSteps = BoxStream<'static, Result<PushdownStep, Error>>;

/// What an owner has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Rows that it has changed.
    pub rows: u64,
    /// Keys whose rows it has not changed: they are not its own.
    pub rest: Vec<KeyRange>,
}

impl Changed {
    /// Adds what else was done.
    pub fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.rest.extend(other.rest);
    }

    /// The same with the rest as disjoint ranges in key order, and none of them outside of what was asked for: between keys that
    /// were left out, there may be others that were asked of somebody else.
    pub fn of(self, asked: &[KeyRange]) -> Self {
        let mut left = self.rest;
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
        Self { rows: self.rows, rest: rest.iter().flat_map(asked_of).collect() }
    }
}

impl Transaction {
    /// Does what is to be done for a step of an pushdown: writes the rows whose keys are owned here, and leaves the others out.
    ///
    /// # Errors
    /// As [`Self::write`], without [`Error::NotOwned`].
    pub fn carry_out(&mut self, table: &Table, step: PushdownStep) -> Result<Changed, Error> {
        let mut write = match step {
            PushdownStep::NotHere(rest) => return Ok(Changed { rows: 0, rest }),
            PushdownStep::Write(write) => write,
        };
        let mut rest = Vec::new();
        while !write.is_empty() {
            match self.write(table, write.clone()) {
                Err(Error::NotOwned { .. }) => {
                    let (owned, others) = divided(&self.table_or_missing(table.id)?, &write)?;
                    rest.extend(others);
                    write = write.picked(&owned)?;
                }
                done => return Ok(Changed { rows: done?, rest }),
            }
        }
        Ok(Changed { rows: 0, rest })
    }
}

/// The places of rows whose keys are owned here, and the keys of the others.
fn divided(view: &TableView, write: &Write) -> Result<(Vec<u32>, Vec<KeyRange>), Error> {
    let keys = match write {
        Write::Delete(keys) => keys.clone(),
        Write::Insert(rows) | Write::Load(rows) | Write::Upsert(rows) => view.encode_keys(rows)?,
    };
    let (owned, others): (Vec<usize>, Vec<usize>) =
        (0..keys.len()).partition(|place| view.require(&keys[*place]).is_ok());
    Ok((owned.into_iter().map(|place| place as u32).collect(), stretches(&keys, &others)))
}

/// Some of the keys, by their places, as ranges that hold none of the others.
fn stretches(keys: &[Key], places: &[usize]) -> Vec<KeyRange> {
    let mut ranges: Vec<KeyRange> = Vec::new();
    let mut before = None;
    for &place in places {
        let key = &keys[place];
        let goes_on = before.is_some_and(|last| last + 1 == place && keys[last] < *key);
        match ranges.last_mut().filter(|_| goes_on) {
            Some(range) => range.high = Bound::At(key.successor()),
            None => ranges.push(KeyRange::point(key)),
        }
        before = Some(place);
    }
    ranges
}

impl DistributedTransaction {
    /// Does what is to be done here for a step of an pushdown.
    ///
    /// # Errors
    /// As [`Transaction::carry_out`]. Some rows may have been changed then; go back to a savepoint.
    pub fn carry_out_here(&mut self, id: TableId, step: PushdownStep) -> Result<Changed, Error> {
        let view = self.table_or_missing(id)?;
        self.here_mut().carry_out(view.table(), step)
    }

    /// The other servers and as whom they are asked for [pushdowns](Peers::pushdown), in the statement that runs now; `None` where
    /// there are none.
    pub fn pushdowns_elsewhere(&mut self) -> Option<(Arc<dyn Peers>, Reader)> {
        self.begin_elsewhere(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_part_of_what_was_asked_for() {
        let key = |byte: u8| Bound::At(Key::from(&[byte][..]));
        let range = |low: u8, high: u8| KeyRange { low: key(low), high: key(high) };
        let asked = [range(10, 20), range(30, 40), range(50, 60)];
        let left = |rest: Vec<KeyRange>| Changed { rows: 3, rest }.of(&asked);
        let across = left(vec![range(35, 52), range(15, 18), range(12, 16)]);
        assert_eq!(across.rest, [range(12, 18), range(35, 40), range(50, 52)]);
        assert_eq!(across.rows, 3);
        assert_eq!(left(vec![KeyRange::all()]).rest, asked);
        assert_eq!(left(vec![range(20, 30), range(60, 90)]).rest, []);
        assert_eq!(left(vec![range(32, 34), range(34, 36)]).rest, [range(32, 36)]);
    }

    #[test]
    fn ranges_of_keys_hold_no_others() {
        let keys: Vec<Key> = (0..8).map(|byte| Key::from(&[byte][..])).collect();
        let ranges = stretches(&keys, &[0, 1, 2, 4, 6, 7]);
        assert_eq!(ranges.len(), 3);
        for (place, key) in keys.iter().enumerate() {
            let held = ranges.iter().filter(|range| range.contains(key)).count();
            assert_eq!(held, usize::from(place != 3 && place != 5), "{place}");
        }
        let backwards: Vec<Key> = keys.into_iter().rev().collect();
        assert_eq!(stretches(&backwards, &[0, 1, 2]).len(), 3, "none is taken for a stretch");
    }
}
