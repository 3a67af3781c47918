//! Answers requests of the sources of moves to this server.

use super::Moves;
use super::incoming::Origin;
use crate::messages::{Answer, Reply, Request, invalid_message};
use std::sync::Arc;

/// Answers a request of a source.
pub(crate) async fn answer(moves: &Arc<Moves>, request: Request) -> Reply {
    let (incoming, tasks) = (&moves.incoming, &moves.routing.calls.tasks);
    match request {
        Request::MoveIn { of, table, range } => {
            let begun = incoming.begin(&moves.routing.store, of, table, &range);
            Ok(Answer::Move(begun?))
        }
        Request::MovePiece { number, piece, ends_round } => {
            incoming.take(number, piece.0, ends_round)?;
            Ok(Answer::Done)
        }
        Request::MoveAdopt { number, rest, adopt, accesses, seen, complete_from } => {
            let (moves, rest) = (Arc::clone(moves), rest.map(|rest| rest.0));
            let adopted = tasks.run(move || {
                let of = Origin { accesses, seen, complete_from };
                moves.incoming.adopt(&moves.routing.files, number, rest, of, adopt)
            });
            adopted.await??;
            Ok(Answer::Adopted(true))
        }
        Request::MoveDrop { number } => {
            let moves = Arc::clone(moves);
            tasks.run(move || moves.incoming.call_off(number)).await?;
            Ok(Answer::Done)
        }
        Request::MoveOutcome { of } => {
            let discarding = Arc::clone(moves);
            tasks.run(move || discarding.incoming.discard_all(of)).await?;
            Ok(Answer::Adopted(moves.routing.store.has_adopted(of).await?))
        }
        other => Err(invalid_message(&format!("{} is not about a move", other.name()))),
    }
}
