//! Moves from this server that had not ended when it did: the destination knows whether it has the keys.

use super::Moves;
use crate::messages::{Answer, Request};
use crate::timeouts::TIMEOUTS;
use std::sync::Arc;

/// A number that no destination has assigned: there is nothing to discard.
const NO_NUMBER: u64 = u64::MAX;

/// Asks the destinations of frozen keys for the outcomes, until all are known. No move begins before: a destination
/// remembers the last one of each source only. `start` is the number of the start of this server.
pub(crate) fn finish(moves: Arc<Moves>, start: u64) -> impl Future<Output = ()> {
    let guard = moves.begin_now();
    async move {
        finish_all(&moves, start).await;
        drop(guard);
    }
}

async fn finish_all(moves: &Moves, start: u64) {
    let store = &moves.routing.store;
    let calls = &moves.routing.calls;
    loop {
        for frozen in store.frozen() {
            let request = Request::MoveOutcome { of: frozen.of, number: NO_NUMBER };
            let Ok(Answer::Adopted(is_adopted)) = calls.ask(frozen.to, &request).await else {
                continue;
            };
            if let Err(error) = store.end_frozen(&frozen, is_adopted) {
                tracing::error!(%error, "could not end a move from before the restart");
                continue;
            }
            tracing::info!(of = %frozen.of, is_adopted, "ended a move from before the restart");
            if let (false, Ok(file)) = (is_adopted, moves.routing.files.by_id(frozen.table)) {
                moves.routing.send(&file, file.reclaim(&frozen.range, start));
            }
        }
        if store.frozen().is_empty() || calls.stopped.is_cancelled() {
            return;
        }
        calls.tasks.sleep(TIMEOUTS.retry_pause).await;
    }
}
