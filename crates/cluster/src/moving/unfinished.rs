//! Moves from this server that had not ended when it did: the destination knows whether it has the keys.

use super::Moves;
use super::source::ask;
use crate::timeouts::TIMEOUTS;
use protocols::routing as directory;
use protocols::source::{Effect, Event, Source};
use std::sync::Arc;
use store::Frozen;

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
    let (store, calls) = (&moves.routing.store, &moves.routing.calls);
    loop {
        // One question for each in turn: no destination that is down keeps the others waiting.
        for frozen in store.frozen() {
            let mut effects = Vec::new();
            let mut source = Source::returned(&mut effects);
            let answer = ask(moves, frozen.to, frozen.of, false).await;
            source.step(Event::Answered(answer), &mut effects);
            for effect in effects {
                match effect {
                    Effect::Drop => end(moves, &frozen, true, start),
                    Effect::Thaw => end(moves, &frozen, false, start),
                    // It is asked again in the next round. There is no number to call off.
                    _ => {}
                }
            }
        }
        if store.frozen().is_empty() || calls.stopped.is_cancelled() {
            return;
        }
        calls.tasks.sleep(TIMEOUTS.retry_pause).await;
    }
}

/// Ends a move. If that fails, it is asked for again.
fn end(moves: &Moves, frozen: &Frozen, is_adopted: bool, start: u64) {
    if let Err(error) = moves.routing.store.end_frozen(frozen, is_adopted) {
        tracing::error!(%error, "could not end a move from before the restart");
        return;
    }
    tracing::info!(of = %frozen.of, is_adopted, "ended a move from before the restart");
    if let (false, Ok(file)) = (is_adopted, moves.routing.files.by_id(frozen.table)) {
        let outbox = file.change(directory::Event::Reclaim { range: &frozen.range, start });
        moves.routing.send(&file, outbox);
    }
}
