//! Reading tables: from a name in a query to Arrow batches out of buckets.
//!
//! [`provider`] is a table as the planner sees it; it turns filters into [`key_ranges`], asks the
//! store for the morsels of those ranges, leaves out what zone maps exclude ([`pruning`]) and makes a
//! [`bucket_scan`], the leaf of every plan over our tables, which a [`stream`] runs: it computes the predicate's
//! [`conjuncts`] of each piece, whose columns it asks memory for before ([`prefetch`]). Where some of the rows are on other servers
//! ([`places`]), it makes a [`spread_scan`] instead.

pub(crate) mod bucket_scan;
pub(crate) mod conjuncts;
pub(crate) mod estimate;
pub(crate) mod handed_on;
pub(crate) mod hint;
pub(crate) mod key_ranges;
pub(crate) mod leaf;
pub(crate) mod pattern;
pub(crate) mod places;
pub(crate) mod portable;
mod prefetch;
pub(crate) mod provider;
pub(crate) mod pruning;
pub(crate) mod shipping;
pub(crate) mod spread_scan;
mod statistics;
pub(crate) mod stream;
pub(crate) mod tables;

/// Rows of a batch between operators.
pub(crate) const BATCH_ROWS: usize = store::CHUNK_ROWS;
