//! `BucketScan`: the leaf of a plan that reads a table's buckets at a snapshot, in key order.
//!
//! The planner decides what to read: a list of [`Piece`]s in key order. Each partition reads a
//! contiguous range of about the same number of rows, so that its output is in key order, too. The
//! optimizer may push down a predicate, remove columns that only the predicate needs, and set a
//! limit. A join or a top-N may add a dynamic filter ([`hint`]), which becomes sharper while the
//! scan runs.

pub mod hint;
mod known;
mod operator;
pub mod output_metrics;
mod pieces;
mod scan;
pub(crate) mod statistics;
mod stream;

pub use pieces::{Coverage, Piece};
pub use scan::BucketScan;
pub use stream::coalesced_below;

pub(crate) use pieces::pieces;
