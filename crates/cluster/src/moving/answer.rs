//! Answers requests of the sources of moves to this server.

use super::Moves;
use super::incoming::Origin;
use messages::{MoveAnswer, MoveRequest, Reply};
use std::sync::Arc;

/// Answers a request of a source.
pub(crate) async fn answer(moves: &Arc<Moves>, request: MoveRequest) -> Reply<MoveAnswer> {
    let (incoming, tasks) = (&moves.incoming, &moves.routing.calls.tasks);
    match request {
        MoveRequest::In { of, table, range } => {
            let begun = incoming.begin(&moves.routing.store, of, table, &range);
            Ok(MoveAnswer::Begun(begun?))
        }
        MoveRequest::Piece { number, piece, ends_round } => {
            incoming.take(number, piece.0, ends_round)?;
            Ok(MoveAnswer::Done)
        }
        MoveRequest::Adopt { number, rest, adopt, accesses, seen, complete_from } => {
            let (adopting, rest) = (Arc::clone(moves), rest.map(|rest| rest.0));
            let adopted = tasks.run(move || {
                let of = Origin { accesses, seen, complete_from };
                adopting.incoming.adopt(&adopting.routing.files, number, rest, of, adopt)
            });
            let (file, outbox) = adopted.await??;
            moves.routing.send(&file, outbox);
            Ok(MoveAnswer::Adopted(true))
        }
        MoveRequest::Drop { number } => {
            let moves = Arc::clone(moves);
            tasks.run(move || moves.incoming.call_off(number)).await?;
            Ok(MoveAnswer::Done)
        }
        MoveRequest::Outcome { of } => {
            let discarding = Arc::clone(moves);
            tasks.run(move || discarding.incoming.discard_all(of)).await?;
            Ok(MoveAnswer::Adopted(moves.routing.store.has_adopted(of).await?))
        }
    }
}
