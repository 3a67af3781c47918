//! Rows by their keys, wherever they are.

use crate::peers::{Peers, Reader};
use crate::view::{Gathered, TableView};
use crate::{ATTEMPTS, Error};
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::{concat, take};
use sdds::{GroupId, Key, KeyRange};
use std::sync::Arc;

/// Rows column by column, and the position of each one's key.
type Found = (Vec<ArrayRef>, Vec<usize>);

impl TableView {
    /// The values of a key's row in some columns, on any server.
    ///
    /// # Errors
    /// Those of other servers.
    pub async fn find(&self, key: &Key, columns: &[usize]) -> Result<Option<Vec<ArrayRef>>, Error> {
        match self.get(key, columns) {
            Err(Error::NotOwned { .. }) => {}
            here => return here,
        }
        let (values, positions) = self.find_many(std::slice::from_ref(key), columns).await?;
        Ok((!positions.is_empty()).then_some(values))
    }

    /// The rows of some keys, on any server: their values column by column, and the position of each one's key,
    /// ascending.
    ///
    /// # Errors
    /// Those of other servers.
    pub async fn find_many(&self, keys: &[Key], columns: &[usize]) -> Result<Found, Error> {
        let Some((peers, reader)) = &self.peers else { return self.get_many(keys, columns) };
        let mut found = Gathered::new(columns);
        let mut rest: Vec<usize> = (0..keys.len()).collect();
        for _ in 0..ATTEMPTS {
            let mut elsewhere = Vec::new();
            for position in rest {
                match self.get(&keys[position], columns) {
                    Err(Error::NotOwned { .. }) => elsewhere.push(position),
                    row => found.add(position, row?),
                }
            }
            let there: Vec<Key> = elsewhere.iter().map(|&at| keys[at].clone()).collect();
            if there.is_empty() {
                return found.finish(self.table(), columns);
            }
            match peers.get(reader, self.table(), &there, columns).await {
                Err(Error::NotOwned { .. }) => rest = elsewhere,
                answer => {
                    let (arrays, positions) = answer?;
                    let positions = positions.iter().filter_map(|&p| elsewhere.get(p).copied());
                    let theirs = (arrays, positions.collect());
                    return both(found.finish(self.table(), columns)?, theirs);
                }
            }
        }
        Err(Error::NotOwned {
            range: rest.first().map_or(KeyRange::all(), |&at| KeyRange::point(&keys[at])),
        })
    }

    /// The parts of a range and who has their rows, in key order: `None` for this server, else a group that is
    /// believed to own them.
    ///
    /// # Errors
    /// [`Error::Unreachable`], only in a cluster.
    pub async fn parts(&self, range: &KeyRange) -> Result<Vec<(KeyRange, Option<GroupId>)>, Error> {
        let peers: Option<&(Arc<dyn Peers>, Reader)> = self.peers();
        let Some((peers, _)) = peers.filter(|_| !self.owns(range)) else {
            return Ok(vec![(range.clone(), None)]);
        };
        let cover = peers.cover(self.table().id, range).await?;
        let here = peers.here();
        let owner = |owner: GroupId| Some(owner).filter(|owner| *owner != here);
        Ok(cover.into_iter().map(|(range, of)| (range, owner(of))).collect())
    }
}

/// Two answers in one, by position.
fn both((ours, our_positions): Found, (theirs, their_positions): Found) -> Result<Found, Error> {
    if our_positions.is_empty() {
        return Ok((theirs, their_positions));
    }
    let positions = [our_positions, their_positions].concat();
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_by_key(|&row| positions[row as usize]);
    let positions = order.iter().map(|&row| positions[row as usize]).collect();
    let order = UInt32Array::from(order);
    let column = |(a, b): (&ArrayRef, &ArrayRef)| -> Result<ArrayRef, Error> {
        let pair: [&dyn Array; 2] = [a, b];
        Ok(take(&concat(&pair)?, &order, None)?)
    };
    let columns = ours.iter().zip(&theirs).map(column).collect::<Result<_, _>>()?;
    Ok((columns, positions))
}
