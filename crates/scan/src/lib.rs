//! Reading tables: from a name in a query to Arrow batches out of buckets.
//!
//! [`provider`] is a table as the planner sees it. It turns filters into `key_ranges`, asks the
//! store for the morsels of those ranges, skips what zone maps exclude (`pruning`) and makes a
//! [`bucket_scan`], the leaf of every plan over our tables. The scan evaluates its [`predicate`] on
//! one piece after another. If other servers own some of the rows ([`places`]), the leaf is a
//! [`spread_scan`] instead. A scan also replaces the sort above it, if it can read in that order ([`orders`]).
//! A join with few rows on its other side looks the rows of a scan up ([`lookup_join`]).
//! Plans of scans can be executed again on other snapshots ([`renewal`]).

pub mod bucket_scan;
pub mod estimate;
pub mod extremes;
pub mod files;
pub mod index_lookup;
pub mod key_ranges;
mod leaf;
pub mod lookup_join;
pub mod made;
pub mod number_keys;
pub mod orders;
pub mod parameters;
pub mod places;
pub mod portable;
pub mod predicate;
pub mod provider;
mod pruning;
pub mod renewal;
pub mod shipping;
pub mod spread_scan;
pub mod tables;

/// Rows of a batch between operators.
pub const BATCH_ROWS: usize = store::CHUNK_ROWS;
