//! Moves of colocated tables (`WITH (colocate_with = other)`): a row belongs on the server that
//! owns the key of the other table with which the row's key begins.
//!
//! The root does not balance such tables. Every server moves away what belongs elsewhere, cut at
//! the borders of the other table. Correctness does not depend on that: misplaced rows are found by
//! the directory.

use super::Moves;
use super::orders::carry_out_one;
use crate::routing::View;
use crate::timeouts::TIMEOUTS;
use messages::{DirectoryAnswer, DirectoryRequest, MoveOrder};
use sdds::balancing::Sizes;
use sdds::{GroupId, KeyRange};
use std::sync::Arc;
use store::catalog::{Relation, Table, TableId};

/// Keys that belong to another group.
struct Misplaced {
    table: TableId,
    range: KeyRange,
    to: GroupId,
    /// Size of their bucket in bytes.
    bytes: u64,
}

/// Moves away misplaced keys, one bucket at a time.
pub(crate) async fn follow(moves: Arc<Moves>) {
    let Some(mut found) = misplaced(&moves).await else { return };
    let Some(_guard) = moves.begin() else { return };
    let tasks = &moves.routing.calls.tasks;
    let begun = tasks.now();
    loop {
        let reason = "colocated with rows of another table".to_owned();
        let sizes = Sizes::default();
        let (table, to, size_max) = (found.table, found.to, found.bytes);
        let order = MoveOrder { table, to, size_max, sizes, reason };
        let given = carry_out_one(&moves, &order, &found.range, found.bytes).await;
        if !given || tasks.now() - begun > TIMEOUTS.order {
            return;
        }
        match misplaced(&moves).await {
            Some(next) => found = next,
            None => return,
        }
    }
}

/// The first misplaced keys on this server.
async fn misplaced(moves: &Arc<Moves>) -> Option<Misplaced> {
    let store = &moves.routing.store;
    let catalog = store.catalog();
    for relation in catalog.relations() {
        let Relation::Table(table) = relation else { continue };
        let Some(other) = catalog.colocated(table) else { continue };
        let (own, others) = (store.owned(table.id), store.owned(other.id));
        let Some(range) = first_outside(&own, &others) else { continue };
        let buckets = store.bucket_infos(table.id);
        let bucket = buckets.iter().find(|b| !b.is_leaving && b.range.overlaps(&range));
        let Some((bucket, range)) = bucket.and_then(|b| Some((b, b.range.intersect(&range)?)))
        else {
            continue;
        };
        if let Some((range, to)) = owner(moves, other, &range).await {
            return Some(Misplaced { table: table.id, range, to, bytes: bucket.bytes });
        }
    }
    None
}

/// Another group that owns the first keys of a range, confirmed by the directory: two outdated
/// images must not send rows back and forth.
async fn owner(moves: &Arc<Moves>, table: &Table, range: &KeyRange) -> Option<(KeyRange, GroupId)> {
    let routing = &moves.routing;
    let view = View::coordinating(Arc::clone(routing));
    let file = routing.files.of(table);
    let (part, believed) = view.parts(&file, range).await.ok()?.into_iter().next()?;
    let request = DirectoryRequest::FindOwners { table: table.id, range: part, hops: 1 };
    let Ok(DirectoryAnswer::Owners(entries)) = routing.calls.ask_leader(believed, &request).await
    else {
        return None;
    };
    file.learn(&entries);
    let owner = file.believed(range)?.into_iter().next();
    owner.filter(|(_, group)| !routing.membership.is_here(*group))
}

/// The first keys of `ranges` that are in none of `others`. Both are in key order.
fn first_outside(ranges: &[KeyRange], others: &[KeyRange]) -> Option<KeyRange> {
    for range in ranges {
        let mut rest = range.clone();
        for other in others.iter().filter(|other| other.overlaps(range)) {
            if rest.low < other.low {
                rest.high = other.low.clone();
                return Some(rest);
            }
            rest.low = other.high.clone();
        }
        if rest.low < rest.high {
            return Some(rest);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use sdds::{Bound, Key};

    fn range(low: u8, high: u8) -> KeyRange {
        let bound = |at: u8| Bound::At(Key::from(vec![at]));
        KeyRange::new(bound(low), bound(high)).expect("not empty")
    }

    #[test]
    fn what_is_in_none_of_the_others_is_found_from_the_left() {
        let outside = |own: &[KeyRange], others: &[KeyRange]| first_outside(own, others);
        assert_eq!(outside(&[range(1, 9)], &[range(1, 9)]), None);
        assert_eq!(outside(&[range(1, 9)], &[range(0, 5), range(5, 10)]), None);
        assert_eq!(outside(&[range(1, 9)], &[]), Some(range(1, 9)));
        assert_eq!(outside(&[range(1, 9)], &[range(3, 5)]), Some(range(1, 3)));
        assert_eq!(outside(&[range(1, 9)], &[range(0, 3), range(5, 9)]), Some(range(3, 5)));
        assert_eq!(outside(&[range(1, 9)], &[range(1, 3)]), Some(range(3, 9)));
        assert_eq!(outside(&[range(1, 2), range(4, 6)], &[range(0, 5)]), Some(range(5, 6)));
    }
}
