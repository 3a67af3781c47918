//! The order in which changes in WITH are executed.
//!
//! PostgreSQL executes a change when its rows are read. Those that nothing has read by the end of the statement are executed
//! then, the last one first. The order decides which of two changes of one row takes place: the first.

use crate::tree::{CteId, NamedChange};
use std::collections::{HashMap, HashSet};

/// The changes in their order, and the number of those that the statement itself reads. `reads` are the queries in WITH that
/// the statement names, `reads_of` those that the queries in WITH name.
pub(super) fn of_execution(
    changes: Vec<NamedChange>,
    reads: &[CteId],
    reads_of: &HashMap<CteId, Vec<CteId>>,
) -> (Vec<NamedChange>, usize) {
    let needed = reached(reads, reads_of);
    let (mut order, rest): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| needed.contains(&change.id));
    let before = order.len();
    // A change reads earlier ones only, which are executed with it.
    let mut rest: Vec<Option<NamedChange>> = rest.into_iter().map(Some).collect();
    while let Some(last) = rest.pop() {
        let Some(last) = last else { continue };
        let needed = reached(&[last.id], reads_of);
        for other in &mut rest {
            order.extend(other.take_if(|other| needed.contains(&other.id)));
        }
        order.push(last);
    }
    (order, before)
}

/// Queries in WITH and all that they read.
pub(super) fn reached(ids: &[CteId], reads_of: &HashMap<CteId, Vec<CteId>>) -> HashSet<CteId> {
    let (mut open, mut reached) = (ids.to_vec(), HashSet::new());
    while let Some(id) = open.pop() {
        if reached.insert(id) {
            open.extend(reads_of.get(&id).into_iter().flatten());
        }
    }
    reached
}
