//! Lookup of rows by key on any server.

use super::TableView;
use super::gathered::Gathered;
use crate::Error;
use crate::peers::{ATTEMPTS_MAX, Peers, Reader};
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::{concat, take};
use sdds::{GroupId, Key, KeyRange};
use std::sync::Arc;

/// Columns of rows, and the position of each row's key.
type Found = (Vec<ArrayRef>, Vec<usize>);

impl TableView {
    /// Returns the values of a key's row in some columns, from any server.
    ///
    /// # Errors
    /// Errors of other servers.
    pub async fn find(&self, key: &Key, columns: &[usize]) -> Result<Option<Vec<ArrayRef>>, Error> {
        match self.get(key, columns) {
            Err(Error::NotOwned { .. }) => {}
            here => return here,
        }
        let (values, positions) = self.find_many(std::slice::from_ref(key), columns).await?;
        Ok((!positions.is_empty()).then_some(values))
    }

    /// Returns the rows of keys from any server: their values in some columns, and the ascending
    /// position of each one's key in `keys`.
    ///
    /// # Errors
    /// Errors of other servers.
    pub async fn find_many(&self, keys: &[Key], columns: &[usize]) -> Result<Found, Error> {
        let Some((peers, reader)) = &self.peers else { return self.get_many(keys, columns) };
        let mut found = Gathered::new();
        let mut rest: Vec<usize> = (0..keys.len()).collect();
        for _ in 0..ATTEMPTS_MAX {
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
                    return merge(found.finish(self.table(), columns)?, theirs);
                }
            }
        }
        Err(Error::NotOwned {
            range: rest.first().map_or(KeyRange::all(), |&at| KeyRange::point(&keys[at])),
        })
    }

    /// Divides a range by owner, in key order: `None` for this server, otherwise the presumed
    /// owner.
    ///
    /// # Errors
    /// [`Error::Unreachable`] in a cluster.
    pub async fn parts(&self, range: &KeyRange) -> Result<Vec<(KeyRange, Option<GroupId>)>, Error> {
        let peers: Option<&(Arc<dyn Peers>, Reader)> = self.peers();
        let Some((peers, _)) = peers.filter(|_| !self.owns(range)) else {
            return Ok(vec![(range.clone(), None)]);
        };
        let cover = peers.cover(self.table().id, range).await?;
        let owner = |owner: GroupId| Some(owner).filter(|owner| !peers.is_here(*owner));
        Ok(cover.into_iter().map(|(range, of)| (range, owner(of))).collect())
    }
}

/// Merges two results by position.
fn merge(ours: Found, theirs: Found) -> Result<Found, Error> {
    let ((ours, our_positions), (theirs, their_positions)) = (ours, theirs);
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
