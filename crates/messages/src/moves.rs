//! What the source of a move asks its destination.

use super::blob::Blob;
use super::ordinals::ordinals;
use sdds::directory::Message;
use sdds::{KeyRange, MoveId, Timestamp};
use serde::{Deserialize, Serialize};
use store::catalog::TableId;

/// A request of the source of a move to its destination.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum MoveRequest {
    /// It wants to give keys away. The answer is the number of the move there. Late, the source has aborted the move, and
    /// the destination discards it after a silence.
    In {
        /// The move.
        of: MoveId,
        /// The table.
        table: TableId,
        /// The keys.
        range: KeyRange,
    },
    /// A piece of the rows. The last piece of a round is marked. Late, the move is discarded, and the number unknown.
    Piece {
        /// The number of the move at the destination.
        number: u64,
        /// The rows.
        piece: Blob,
        /// Whether it is the last of its round.
        ends_round: bool,
    },
    /// It has frozen the keys: own them, with the last piece, if any. Late, after the source has asked for the outcome, the
    /// move is discarded, and it is refused.
    Adopt {
        /// The number of the move at the destination.
        number: u64,
        /// The last piece of the rows, if any.
        rest: Option<Blob>,
        /// The message of the directory.
        adopt: Message<()>,
        /// The access rate per second at the source.
        accesses: u64,
        /// The newest timestamp there.
        seen: Timestamp,
        /// Versions that only snapshots before this need may be gone.
        complete_from: Timestamp,
    },
    /// It has aborted the move. Late, the move is discarded already.
    Drop {
        /// The number of the move at the destination.
        number: u64,
    },
    /// It has lost the answer, or has been started again: whether the destination has adopted the keys. If not, it discards
    /// the move before it answers. Late, the answer is the same.
    Outcome {
        /// The move.
        of: MoveId,
    },
}

ordinals!(MoveRequest {
    0 = In as "MoveIn",
    1 = Piece as "MovePiece",
    2 = Adopt as "MoveAdopt",
    3 = Drop as "MoveDrop",
    4 = Outcome as "MoveOutcome",
});

/// The answer of a destination.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum MoveAnswer {
    /// To what has no other answer.
    Done,
    /// To [`MoveRequest::In`]: the number of the move here.
    Begun(u64),
    /// To [`MoveRequest::Adopt`] and [`MoveRequest::Outcome`].
    Adopted(bool),
}

ordinals!(MoveAnswer { 0 = Done, 1 = Begun, 2 = Adopted });
