//! Answers requests of the sources of moves to this server.

use super::Moves;
use crate::messages::{Answer, Reply, Request, invalid_message};

/// Answers a request of a source.
pub(crate) fn answer(moves: &Moves, request: Request) -> Reply {
    let incoming = &moves.incoming;
    match request {
        Request::MoveIn { table, range } => {
            Ok(Answer::Move(incoming.begin(&moves.routing.store, table, &range)?))
        }
        Request::MovePiece { number, piece, ends_round } => {
            incoming.take(number, piece.0, ends_round)?;
            Ok(Answer::Done)
        }
        Request::MoveAdopt { number, rest, adopt, accesses } => {
            let rest = rest.map(|rest| rest.0);
            incoming.adopt(&moves.routing.files, number, rest, accesses, adopt)?;
            Ok(Answer::Adopted(true))
        }
        Request::MoveDrop { number } => {
            incoming.forget(number);
            Ok(Answer::Done)
        }
        Request::MoveOutcome { number } => Ok(Answer::Adopted(incoming.outcome(number))),
        other => Err(invalid_message(&format!("{} is not about a move", other.name()))),
    }
}
