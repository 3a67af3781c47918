//! The owners of key ranges: which ranges this server owns, and which other servers do.

use crate::bucket_scan::{Coverage, Piece, pieces};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use sdds::{GroupId, KeyRange, ServerId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::key::Stretches;
use store::{Peers, Reader, TableView};
use values::translate::external;
use values::{Error, SqlState};

/// Servers that may forward a range, one to the next, before the statement fails. Rows that move
/// often may be forwarded each time: the owner that a server knows has given them away meanwhile.
const HOPS_MAX: u8 = 64;

/// Attempts to find rows that are moving away.
pub const ATTEMPTS: usize = 64;

/// One owner's ranges, in key order.
pub type Owned = (GroupId, Vec<KeyRange>);

/// The ranges of a scan by owner, as far as this server knows.
#[derive(Clone)]
pub struct Elsewhere {
    view: TableView,
    here: Arc<[KeyRange]>,
    owners: Arc<[Owned]>,
    /// Servers that have forwarded these ranges.
    hops: u8,
}

impl Elsewhere {
    /// Ranges that this server owns, and those of other owners, both in key order.
    pub fn new(view: TableView, here: Vec<KeyRange>, owners: Vec<Owned>) -> Self {
        Self { view, here: here.into(), owners: owners.into(), hops: 0 }
    }

    /// Whether both belong to the same scan.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.owners, &other.owners)
    }

    /// The same ranges, forwarded by `hops` servers that did not own them.
    pub fn with_hops(self, hops: u8) -> Self {
        Self { hops, ..self }
    }

    /// The name of a server.
    pub fn name_of(&self, server: ServerId) -> String {
        match self.view.peers() {
            Some((peers, _)) => peers.server_name(server),
            None => server.to_string(),
        }
    }

    /// Ranges as EXPLAIN shows them.
    pub fn shown<'a>(&'a self, ranges: &'a [KeyRange]) -> Stretches<'a> {
        Stretches { table: self.view.table(), ranges }
    }

    /// A description of the rows in some ranges, for errors.
    pub fn rows_of(&self, ranges: &[KeyRange]) -> String {
        format!("{} of table \"{}\"", self.shown(ranges), self.view.table().name)
    }

    /// The other owners, by group.
    pub fn owners(&self) -> &[Owned] {
        &self.owners
    }

    /// The servers that lead the other owners.
    pub fn servers(&self) -> BTreeSet<ServerId> {
        self.owners.iter().map(|(group, _)| self.leader_of(*group)).collect()
    }

    /// The server that leads another owner.
    pub fn leader_of(&self, group: GroupId) -> ServerId {
        self.view.peers().map_or(ServerId::NOBODY, |(peers, _)| peers.leader_of(group))
    }

    /// The ranges whose owners some servers lead, in key order.
    pub fn ranges_at(&self, servers: &[ServerId]) -> Vec<KeyRange> {
        let owners = self.owners.iter();
        let there = owners.filter(|(group, _)| servers.contains(&self.leader_of(*group)));
        let mut ranges: Vec<KeyRange> = there.flat_map(|(_, ranges)| ranges).cloned().collect();
        ranges.sort_by(|one, other| one.low.cmp(&other.low));
        ranges
    }

    /// The ranges that are this server's.
    pub fn here(&self) -> &[KeyRange] {
        &self.here
    }

    /// The table.
    pub fn view(&self) -> &TableView {
        &self.view
    }

    /// Every range with its owner, in key order; `None` is this server.
    pub fn parts(&self) -> Vec<(&KeyRange, Option<GroupId>)> {
        let theirs = self.owners.iter().map(|(group, ranges)| (Some(*group), ranges.as_slice()));
        let all = std::iter::once((None, &*self.here)).chain(theirs);
        let each = all.flat_map(|(owner, ranges)| ranges.iter().map(move |range| (range, owner)));
        let mut parts: Vec<_> = each.collect();
        parts.sort_by(|one, other| one.0.low.cmp(&other.0.low));
        parts
    }

    /// Whether another server forwarded these ranges to this one.
    pub fn is_forwarded(&self) -> bool {
        self.hops > 0
    }

    /// The number of hops for the next owner.
    ///
    /// # Errors
    /// 40001 if the ranges have been forwarded too often.
    pub fn next_hop(&self) -> Result<u8> {
        if self.hops < HOPS_MAX { Ok(self.hops + 1) } else { Err(external(are_moving(&self.view))) }
    }

    /// The other servers, and the reader on whose behalf they are asked.
    ///
    /// # Errors
    /// XX000 if this server has no peers.
    pub fn peers(&self) -> Result<&(Arc<dyn Peers>, Reader)> {
        let message = "rows are on other servers, but this server has no peers";
        self.view.peers().ok_or_else(|| external(Error::new(SqlState::InternalError, message)))
    }
}

/// The error for rows that move between servers faster than a statement can follow.
pub fn are_moving(view: &TableView) -> Error {
    let message = format!("rows of table \"{}\" are moving between servers", view.table().name);
    Error::new(SqlState::SerializationFailure, message).with_hint("Run the statement again.")
}

/// What a scan of some ranges reads.
pub struct Found {
    /// The pieces on this server.
    pub pieces: Vec<Piece>,
    /// Numbers for EXPLAIN.
    pub coverage: Coverage,
    /// The ranges that this server owns.
    pub here: Vec<KeyRange>,
    /// The ranges of other servers.
    pub elsewhere: Vec<Owned>,
}

/// Finds the rows of `ranges`, which are in key order: pieces of those that are here, and the
/// owners of the others. `columns` maps each field of `schema` to a column of the table.
///
/// # Errors
/// Those of the store.
pub async fn find(
    view: &TableView,
    ranges: &[KeyRange],
    predicate: Option<&Arc<dyn PhysicalExpr>>,
    schema: &SchemaRef,
    columns: &[usize],
) -> Result<Found> {
    let mut attempts = 0;
    loop {
        let (here, elsewhere) = owners(view, ranges).await?;
        attempts += 1;
        match pieces(view, &here, predicate, schema, columns) {
            // They have just moved away.
            Err(store::Error::NotOwned { .. }) if attempts < ATTEMPTS => {}
            found => {
                let (pieces, coverage) = found.map_err(|error| external(error.into()))?;
                return Ok(Found { pieces, coverage, here, elsewhere });
            }
        }
    }
}

/// Divides ranges into those of this server and those of others.
///
/// # Errors
/// Those of the store, where the owners are looked up.
pub async fn owners(view: &TableView, ranges: &[KeyRange]) -> Result<(Vec<KeyRange>, Vec<Owned>)> {
    if view.peers().is_none() {
        return Ok((ranges.to_vec(), Vec::new()));
    }
    let (mut here, mut elsewhere) = (Vec::new(), BTreeMap::<GroupId, Vec<KeyRange>>::new());
    for range in ranges {
        let parts = view.parts(range).await.map_err(|error| external(error.into()))?;
        for (part, owner) in parts {
            match owner {
                None => here.push(part),
                Some(owner) => elsewhere.entry(owner).or_default().push(part),
            }
        }
    }
    // Without other owners the ranges stay undivided.
    let here = if elsewhere.is_empty() { ranges.to_vec() } else { here };
    Ok((here, elsewhere.into_iter().collect()))
}
