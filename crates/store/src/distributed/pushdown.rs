//! DML pushdown: changes of rows that depend only on the row itself are computed and staged by the
//! owners of the rows.
//!
//! The coordinator divides the keys of the table among their presumed owners, and sends the
//! pushdown to each ([`RowPeers::pushdown`](crate::RowPeers::pushdown)). Its own part is executed in the same way. A server
//! writes its results in batches ([`PushdownStep`]). It leaves out keys that it does not own, or
//! that have left during the computation, and returns them ([`Changed::rest`]); their new owners
//! are asked for exactly those. Each row is thus changed once. A key that has been written does not
//! move until the transaction ends.

use super::DistributedTransaction;
use crate::Error;
use crate::peers::{Changed, Peers, PushdownStep, Reader, Write};
use crate::read::TableView;
use crate::transaction::Transaction;
use catalog::{Table, TableId};
use sdds::{Bound, Key, KeyRange};
use std::sync::Arc;

impl Transaction {
    /// Executes a step of a pushdown: writes the rows whose keys are owned here, and leaves out the
    /// others.
    ///
    /// # Errors
    /// As [`Self::write`], without [`Error::NotOwned`].
    pub fn carry_out(&mut self, table: &Table, step: PushdownStep) -> Result<Changed, Error> {
        let mut write = match step {
            PushdownStep::NotHere(rest) => return Ok(Changed { rest, ..Changed::default() }),
            PushdownStep::Write(write) => write,
        };
        let mut rest = Vec::new();
        while !write.is_empty() {
            match self.write(table, write.clone()) {
                Err(Error::NotOwned { .. }) => {
                    let (owned, others) = divide(&self.table_or_missing(table.id)?, &write)?;
                    rest.extend(others);
                    write = write.picked(&owned)?;
                }
                done => {
                    let (rows, entries) = (done?, self.take_entries());
                    return Ok(Changed { rows, rest, entries });
                }
            }
        }
        Ok(Changed { rest, ..Changed::default() })
    }
}

/// Returns the positions of rows whose keys are owned here, and the other keys.
fn divide(view: &TableView, write: &Write) -> Result<(Vec<u32>, Vec<KeyRange>), Error> {
    let keys = match write {
        Write::Delete(keys) | Write::Require(keys) => keys.clone(),
        Write::Insert(rows) | Write::Load(rows) | Write::Upsert(rows) => view.encode_keys(rows)?,
    };
    let (owned, others): (Vec<usize>, Vec<usize>) =
        (0..keys.len()).partition(|place| view.require(&keys[*place]).is_ok());
    Ok((owned.into_iter().map(|place| place as u32).collect(), ranges_of(&keys, &others)))
}

/// Returns the keys at `places` as ranges that contain none of the others.
fn ranges_of(keys: &[Key], places: &[usize]) -> Vec<KeyRange> {
    let mut ranges: Vec<KeyRange> = Vec::new();
    let mut before = None;
    for &place in places {
        let key = &keys[place];
        let continues = before.is_some_and(|last| last + 1 == place && keys[last] < *key);
        match ranges.last_mut().filter(|_| continues) {
            Some(range) => range.high = Bound::At(key.successor()),
            None => ranges.push(KeyRange::point(key)),
        }
        before = Some(place);
    }
    ranges
}

impl DistributedTransaction {
    /// Executes a step of a pushdown on this server.
    ///
    /// # Errors
    /// As [`Transaction::carry_out`]. Some rows may have been changed then; roll back to a
    /// savepoint.
    pub async fn carry_out_here(
        &mut self,
        id: TableId,
        step: PushdownStep,
    ) -> Result<Changed, Error> {
        let view = self.table_or_missing(id)?;
        self.waiting(|here| here.carry_out(view.table(), step.clone())).await
    }

    /// Returns the other servers and the identity for [pushdowns](crate::RowPeers::pushdown); `None` without
    /// a cluster.
    pub fn pushdowns_elsewhere(&mut self) -> Option<(Arc<dyn Peers>, Reader)> {
        self.begin_elsewhere(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_keys_hold_no_others() {
        let keys: Vec<Key> = (0..8).map(|byte| Key::from(&[byte][..])).collect();
        let ranges = ranges_of(&keys, &[0, 1, 2, 4, 6, 7]);
        assert_eq!(ranges.len(), 3);
        for (place, key) in keys.iter().enumerate() {
            let held = ranges.iter().filter(|range| range.contains(key)).count();
            assert_eq!(held, usize::from(place != 3 && place != 5), "{place}");
        }
        let backwards: Vec<Key> = keys.into_iter().rev().collect();
        assert_eq!(ranges_of(&backwards, &[0, 1, 2]).len(), 3, "descending keys are not joined");
    }
}
