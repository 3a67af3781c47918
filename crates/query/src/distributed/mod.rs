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

pub(crate) mod bundles;
pub(crate) mod kinds;
mod broadcast;
mod codec;
mod colocated;
mod exchange;
mod exchanges;
pub(crate) mod expressions;
mod forward;
mod gather;
pub(crate) mod metrics;
mod portable;
mod produce;
pub(crate) mod pushdown;
mod queues;
mod reader;
mod receive;
mod received;
mod remote;
mod rule;
mod sites;
mod stage;
mod storing;
mod tree;
mod wire;

pub(crate) use broadcast::{from_bytes as rows_from_bytes, to_bytes as rows_to_bytes};
pub(crate) use exchanges::Exchanges;
pub(crate) use portable::Portable;
pub(crate) use receive::{Receiver, out_of_range};
pub(crate) use received::holding;
pub(crate) use remote::servers_of;
pub(crate) use rule::ShipFragments;
pub(crate) use sites::Participants;
pub(crate) use storing::{Begun, StoreAs};
pub(crate) use wire::carries_rows;

use crate::values::error::{Error, SqlState};
use crate::scan::spread_scan::SpreadScan;
use crate::catalog_views;
use crate::values::translate::external;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use gather::Gathering;
use remote::BROADCAST_BYTES_MAX;
use sites::Sites;
use std::sync::Arc;

/// The setting that says whether operators go to the rows.
const SHIPPING: &str = "pando.shipping";

/// What a statement knows about shipping.
pub(crate) struct Shipping {
    pub(crate) portable: Arc<Portable>,
    /// Whether more than scans is shipped.
    operators: bool,
    /// Rows of at most so many bytes are sent to all owners of a join's other rows.
    broadcast_bytes: usize,
    /// How rows come from others.
    gathering: Gathering,
    /// How many parts of an answer a server combines, at most.
    fan_in: usize,
    /// Into how many parts a server divides its work.
    partitions: usize,
}

/// The setting that says how many bytes a join sends to everybody rather than dealing out rows of both sides.
const BROADCAST_BYTES: &str = "pando.broadcast_bytes";

/// The setting that says from how many servers one takes the parts of an answer that it combines.
const FAN_IN: &str = "pando.fan_in";

impl Shipping {
    /// What a configuration says.
    pub(crate) fn of(config: &SessionConfig) -> Result<Arc<Self>> {
        let portable = config.get_extension::<Portable>().ok_or_else(|| {
            let message = "the engine does not know what may be shipped";
            external(Error::new(SqlState::InternalError, message))
        })?;
        let operators = catalog_views::setting(config, SHIPPING).is_none_or(|value| value != "off");
        let number =
            |name| catalog_views::setting(config, name).and_then(|value| value.parse::<usize>().ok());
        let broadcast_bytes = number(BROADCAST_BYTES).unwrap_or(BROADCAST_BYTES_MAX);
        let gathering = Gathering::of(config);
        let fan_in = number(FAN_IN).unwrap_or(forward::FAN_IN);
        let partitions = config.target_partitions();
        Ok(Arc::new(Self { portable, operators, broadcast_bytes, gathering, fan_in, partitions }))
    }
}

/// A scan without operators above it: the rows that are here, and those that others send.
pub(crate) fn whole_scan(scan: &SpreadScan) -> Result<Arc<dyn ExecutionPlan>> {
    let sites = Sites::owners(vec![scan.elsewhere.clone()]);
    sites.everywhere(Arc::new(scan.here.clone()), Gathering::PUSH, usize::MAX)
}
