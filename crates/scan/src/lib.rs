//! Reading tables: from a name in a query to Arrow batches out of buckets.
//!
//! [`provider`] is a table as the planner sees it; it turns filters into [`key_ranges`], asks the
//! store for the morsels of those ranges, leaves out what zone maps exclude ([`pruning`]) and makes a
//! [`bucket_scan`], the leaf of every plan over our tables, which a [`stream`] runs: it computes the predicate's
//! [`conjuncts`] of each piece, whose columns it asks memory for before ([`prefetch`]). Where some of the rows are on other servers
//! ([`places`]), it makes a [`spread_scan`] instead.

pub mod bucket_scan;
pub mod conjuncts;
pub mod estimate;
pub mod handed_on;
pub mod hint;
pub(crate) mod key_ranges;
mod leaf;
pub mod pattern;
pub mod places;
pub mod portable;
mod prefetch;
pub mod provider;
pub(crate) mod pruning;
pub mod shipping;
pub mod spread_scan;
mod statistics;
pub mod stream;
pub mod tables;

/// Rows of a batch between operators.
pub const BATCH_ROWS: usize = store::CHUNK_ROWS;
