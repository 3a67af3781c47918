//! Where the rows of key ranges are: which ranges are this server's, and which belong to whom.

use super::bucket_scan::{Coverage, Piece, pieces};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use sdds::{GroupId, KeyRange};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::key::Stretches;
use store::{Peers, Reader, TableView};
use values::error::{Error, SqlState};
use values::translate::external;

/// How many servers may send a range on, one to the next, before a statement gives up.
const HOPS_MAX: u8 = 8;

/// How often rows that have just left are looked for.
pub const ATTEMPTS: usize = 64;

/// One owner's ranges, in key order.
pub type Owned = (GroupId, Vec<KeyRange>);

/// The ranges of a scan that other servers are believed to own, and those that are left.
#[derive(Clone)]
pub struct Elsewhere {
    view: TableView,
    here: Arc<[KeyRange]>,
    owners: Arc<[Owned]>,
    /// How many servers have sent these ranges on already.
    hops: u8,
}

impl Elsewhere {
    pub fn new(view: TableView, here: Vec<KeyRange>, owners: Vec<Owned>) -> Self {
        Self { view, here: here.into(), owners: owners.into(), hops: 0 }
    }

    /// Whether this is what the same scan reads elsewhere.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.owners, &other.owners)
    }

    /// The same, for ranges that were sent here by a server that took them for ours.
    pub fn with_hops(self, hops: u8) -> Self {
        Self { hops, ..self }
    }

    /// What people call an owner.
    pub fn server(&self, group: GroupId) -> String {
        match self.view.peers() {
            Some((peers, _)) => peers.server_name(group),
            None => group.to_string(),
        }
    }

    /// Ranges as a plan shows them.
    pub fn shown<'a>(&'a self, ranges: &'a [KeyRange]) -> Stretches<'a> {
        Stretches { table: self.view.table(), ranges }
    }

    /// What an owner of ranges has.
    pub fn rows_of(&self, ranges: &[KeyRange]) -> String {
        format!("{} of table \"{}\"", self.shown(ranges), self.view.table().name)
    }

    /// The owners, by group.
    pub fn owners(&self) -> &[Owned] {
        &self.owners
    }

    /// One owner's ranges, in key order.
    pub fn ranges_of(&self, group: GroupId) -> &[KeyRange] {
        self.owners.iter().find(|(of, _)| *of == group).map_or(&[], |(_, ranges)| ranges)
    }

    /// The ranges of several owners, in key order.
    pub fn ranges_of_all(&self, groups: &[GroupId]) -> Vec<KeyRange> {
        let ranges = groups.iter().flat_map(|group| self.ranges_of(*group));
        let mut ranges: Vec<KeyRange> = ranges.cloned().collect();
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

    /// Whether these ranges were sent here by a server that took them for ours.
    pub fn is_passed_on(&self) -> bool {
        self.hops > 0
    }

    /// How often the next owner's ranges will have been sent on.
    ///
    /// # Errors
    /// 40001 where they have gone round too often.
    pub fn next_hop(&self) -> Result<u8> {
        if self.hops < HOPS_MAX { Ok(self.hops + 1) } else { Err(external(are_moving(&self.view))) }
    }

    /// The other servers, and as whom they are asked.
    pub fn peers(&self) -> Result<&(Arc<dyn Peers>, Reader)> {
        let message = "rows are on other servers, and there are none";
        self.view.peers().ok_or_else(|| external(Error::new(SqlState::InternalError, message)))
    }
}

/// A table's rows have gone from server to server faster than they could be followed.
pub fn are_moving(view: &TableView) -> Error {
    let message = format!("rows of table \"{}\" are moving between servers", view.table().name);
    Error::new(SqlState::SerializationFailure, message).with_hint("Run the statement again.")
}

/// What there is to read of ranges, which are in key order.
pub struct Found {
    pub pieces: Vec<Piece>,
    pub coverage: Coverage,
    pub here: Vec<KeyRange>,
    pub elsewhere: Vec<Owned>,
}

/// Looks for the rows of ranges: pieces of those that are here, and the owners of the others. `columns` says which
/// table column each field of `schema` is.
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
            // They have just left.
            Err(store::Error::NotOwned { .. }) if attempts < ATTEMPTS => {}
            found => {
                let (pieces, coverage) = found.map_err(|error| external(error.into()))?;
                return Ok(Found { pieces, coverage, here, elsewhere });
            }
        }
    }
}

/// Divides ranges into those whose rows are here and those of others.
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
    // What is all here is read in as few ranges as it is asked for.
    let here = if elsewhere.is_empty() { ranges.to_vec() } else { here };
    Ok((here, elsewhere.into_iter().collect()))
}
