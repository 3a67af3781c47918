//! Moving a stretch of a table's keys from one store to another, as data: who carries it is not known here.
//!
//! ```text
//! owner:     move_out  copy ...            copy ...             freeze  rest ...          finish
//! receiver:  move_in   take ...  end_round  take ...  end_round          take ...  adopt
//! ```
//!
//! Each copy is a round of what has been written since the one before, until little is left for the rest. The receiver puts
//! a round together when it ends, so that to adopt the keys takes no longer than the rest.
//!
//! Between freeze and finish nobody begins to read or write the keys at the owner; until then nothing is different for
//! anybody, but that the buckets are not split, merged or compacted. Rows move with all their versions and timestamps.

mod inward;
mod outward;
mod piece;

pub use inward::MoveIn;
pub use outward::{Busy, MoveOut};
pub use piece::Pieces;
