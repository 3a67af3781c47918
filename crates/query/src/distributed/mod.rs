//! Running operators where the rows are: fragments.
//!
//! A scan of a table whose rows are on several servers ([`SpreadScan`]) and the operators above it that work on any
//! part of its rows alone (filters, partial aggregates, top-N, joins with a few rows) are one fragment. [`rule`] finds
//! it when a statement is planned; every owner runs it on its own rows ([`remote`], [`receive`]), this server does the
//! same, and their outputs together are what is left to do here. What crosses between servers is in [`wire`], what
//! may cross in [`portable`], and the few rows of a join that every owner needs are gathered by [`broadcast`].
//! Partial aggregates and top-Ns of many servers are combined in a tree ([`tree`]): a server that is asked for the rows
//! of others sends the fragment on ([`forward`]).
//!
//! Joins of tables that lie beside one another are fragments over both ([`colocated`]): no row crosses for them. Other
//! joins of many rows with many, and aggregates with many groups, are fragments, too ([`stage`]): an [`exchange`] deals the
//! rows of each input out among servers, so that rows with equal keys meet on one of them. Each server that has rows
//! of an input deals them out ([`partitioning`], [`queues`]), and each that runs the fragment takes its parts from all of
//! them ([`reader`]). Rows go from server to server; the one that coordinates sees but the fragment's output.
//!
//! What a fragment gives can also stay where it is, and be written there: UPDATE and DELETE ([`pushdown`]). Where plans are cut
//! ([`crate::distributed::bundles`]), it stays for the fragment that runs next ([`storing`]). EXPLAIN ANALYZE asks every server what it has
//! [`metrics`] on it.

mod broadcast;
pub(crate) mod bundles;
mod codec;
mod colocated;
mod exchange;
mod exchanges;
pub(crate) mod expressions;
mod forward;
mod gather;
pub(crate) mod kinds;
pub(crate) mod metrics;
mod produce;
mod queues;
mod reader;
mod receive;
mod received;
mod remote;
mod row_query;
mod rule;
mod sites;
mod stage;
mod storing;
mod tree;
mod wire;

pub(crate) use broadcast::{from_bytes as rows_from_bytes, to_bytes as rows_to_bytes};
pub(crate) use exchanges::Exchanges;
pub(crate) use receive::{Node, Sender, out_of_range};
pub(crate) use received::holding;
pub(crate) use remote::servers_of;
pub(crate) use row_query::{OwnRows, RowQuery};
pub(crate) use rule::ShipFragments;
pub(crate) use sites::Participants;
pub(crate) use storing::{Begun, StoreAs};
pub(crate) use wire::{BYTES_MAX as FRAGMENT_BYTES_MAX, carries_rows};
