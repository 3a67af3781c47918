//! Carries out the moves that the root orders.

use super::Moves;
use super::source::move_range;
use crate::timeouts::TIMEOUTS;
use messages::MoveOrder;
use sdds::KeyRange;
use std::sync::Arc;
use store::BucketInfo;

/// Carries out the first order for which there is something to move, in its own task. Does nothing
/// during another move.
pub(crate) fn carry_out(moves: &Arc<Moves>, orders: Vec<MoveOrder>) {
    let tasks = moves.routing.calls.tasks.clone();
    if moves.outgoing.is_resting(tasks.now()) {
        return;
    }
    let Some(guard) = moves.begin() else { return };
    moves.routing.calls.tasks.spawn(async move {
        let moves = &guard.0;
        for order in &orders {
            if has_carried_out(moves, order).await {
                return;
            }
        }
        moves.outgoing.rest(tasks.now());
    });
}

/// Carries out an order. Returns false if there was nothing to do.
async fn has_carried_out(moves: &Arc<Moves>, order: &MoveOrder) -> bool {
    let tasks = &moves.routing.calls.tasks;
    let (begun, mut left) = (tasks.now(), order.size_max);
    let mut did_something = false;
    while left > 0 && tasks.now() - begun < TIMEOUTS.order {
        let chosen = match choose(moves, order, left) {
            Choice::Move(chosen) => chosen,
            Choice::Split => return true,
            Choice::Nothing => break,
        };
        did_something = true;
        if !carry_out_one(moves, order, &chosen.range, chosen.bytes).await {
            break;
        }
        // A move lowers the size here and raises it there.
        let size = order.sizes.size(chosen.bytes, chosen.accesses);
        left = left.saturating_sub(size.max(1).saturating_mul(2));
    }
    did_something
}

/// Moves one bucket. Returns whether that succeeded.
pub(super) async fn carry_out_one(
    moves: &Arc<Moves>,
    order: &MoveOrder,
    range: &KeyRange,
    bytes: u64,
) -> bool {
    let result = move_range(moves, order, range, bytes).await;
    // A pause by a user is not a failure.
    let is_paused = moves.routing.membership.list().moves.is_paused;
    moves.outgoing.note_result(result.is_ok() || is_paused, moves.routing.calls.tasks.now());
    if let Err(error) = &result {
        tracing::warn!(%error, %range, table = order.table.0, "a move was deferred");
    }
    result.is_ok()
}

/// How an order is carried out.
enum Choice {
    /// Move this bucket.
    Move(BucketInfo),
    /// A bucket was split; the next order may move a half.
    Split,
    /// No move would help.
    Nothing,
}

/// Chooses the bucket to move: of the largest ones that fit the order, within a factor of two, the
/// one with the highest keys. So an order moves adjacent buckets, and an owner's keys stay
/// contiguous. If no bucket fits the whole order, and accesses make up much of the size of the most
/// accessed one, it is split between its accesses.
fn choose(moves: &Moves, order: &MoveOrder, size_max: u64) -> Choice {
    let store = &moves.routing.store;
    let mut buckets: Vec<BucketInfo> = store.bucket_infos(order.table);
    buckets.retain(|bucket| !bucket.is_leaving);
    let size = |bucket: &BucketInfo| order.sizes.size(bucket.bytes, bucket.accesses);
    let fits = |bucket: &&BucketInfo| size(bucket) <= size_max;
    if let Some(largest) = buckets.iter().filter(fits).map(size).max() {
        let chosen = buckets.iter().filter(fits).rfind(|bucket| size(bucket) >= largest / 2);
        return chosen.map_or(Choice::Nothing, |bucket| Choice::Move(bucket.clone()));
    }
    let hottest = buckets.iter().max_by_key(|bucket| size(bucket));
    // If accesses count fully, they are at least about half of the size.
    let is_hot = |bucket: &&BucketInfo| {
        order.sizes.of_accesses(bucket.accesses) >= size(bucket) / 4 && size_max >= order.size_max
    };
    let is_split = hottest
        .filter(is_hot)
        .is_some_and(|bucket| store.split_by_accesses(order.table, &bucket.range));
    if is_split { Choice::Split } else { Choice::Nothing }
}
