//! Moves of key ranges between stores, as data. Transport is not part of this crate.
//!
//! ```text
//! source:       move_out  copy ...             copy ...             freeze  rest ...
//! finish
//! destination:  move_in   take ...  end_round  take ...  end_round           take ...  adopt
//! ```
//!
//! Each copy is a round that sends what was written since the previous one, until little is left.
//! The destination combines the pieces of a round when it ends, so that adopting the keys takes no
//! longer than processing the rest.
//!
//! From freeze to finish, the source refuses new reads and writes of the keys. Before that, the
//! only restriction is that the buckets do not split, merge or compact. Rows move with all their
//! versions and timestamps.

mod inward;
mod outward;
mod piece;

pub use inward::MoveIn;
pub use outward::{Busy, MoveOut};
pub use piece::Pieces;
