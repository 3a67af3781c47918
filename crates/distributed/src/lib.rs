//! Running operators on the servers that own the rows.
//!
//! A scan of a table whose rows are on several servers and the operators above it that work on any
//! part of its rows alone (filters, partial aggregates, top-N, joins with a few rows) are one plan
//! fragment. `rule` finds it when a statement is planned. Every owner runs it on its own rows
//! (`remote` sends it, `serve` runs it), this server does the same, and the rest of the plan works
//! on their outputs. `wire` is the form of fragments as bytes.
//!
//! Joins of colocated tables are fragments over both tables: no row is sent for them. Other joins
//! of two large inputs, and aggregates with many groups, are fragments over an `exchange`, which
//! hash-partitions the rows of each input among servers. Rows go from server to server; the
//! coordinator only sees the fragment's output.
//!
//! The rows of a fragment can also stay on the servers that made them: for UPDATE and DELETE
//! (`row_query`), and for operation bundling ([`bundles`]), which stores rows at a `boundary` for
//! the fragment that runs next. EXPLAIN ANALYZE asks every server for its [`metrics`].
//!
//! Exchanges and boundaries are leaves of fragments, and their inputs are fragments on other
//! servers. They know those only by the trait `shipped::Shipped`, which `remote` implements.

mod boundary;
pub mod bundles;
mod exchange;
pub mod kinds;
pub mod metrics;
mod received;
mod remote;
mod row_query;
mod rule;
mod serve;
mod shipped;
mod sites;
mod wire;

pub use exchange::Exchanges;
pub use remote::read_everywhere;
pub use row_query::{OwnRows, RowQuery};
pub use rule::ShipFragments;
pub use serve::{Node, Sender};
pub use wire::fragment::BYTES_MAX as FRAGMENT_BYTES_MAX;
pub use wire::rows::{from_bytes as rows_from_bytes, to_bytes as rows_to_bytes};
pub use wire::{expressions, out_of_range};
