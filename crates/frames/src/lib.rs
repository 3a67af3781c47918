//! Window functions over any frames, and aggregates in any order.
//!
//! The engine has no EXCLUDE, no RANGE over all types, and no arguments of `lag` and the like that differ from row to row.
//! It sorts the rows of a SELECT for one order of its aggregates. What it lacks is computed here, of the rows that it hands
//! out: [`over_frame`] of a partition, [`sorted`] of a group, [`recomputed`] of a frame that moves.

mod arranged;
mod bounds;
mod direction;
mod folded;
mod function;
mod moving;
mod values;

pub use arranged::sorted;
pub use bounds::{Bound, Exclusion, Frame, Units};
pub use direction::forwards;
pub use folded::{Fold, Step, fold_of, folded};
pub use function::{Layout, over_frame};
pub use moving::{in_order, recomputed};
pub use values::Function;
