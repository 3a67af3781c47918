//! Running operators where the rows are: bundles.
//!
//! A scan of a table whose rows are on several servers ([`SpreadScan`]) and the operators above it that work on any
//! part of its rows alone (filters, partial aggregates, top-N, joins with a few rows) are one bundle. [`rule`] finds
//! it when a statement is planned; every owner runs it on its own rows ([`remote`], [`receive`]), this server does the
//! same, and their outputs together are what is left to do here. What crosses between servers is in [`wire`], what
//! may cross in [`portable`], and the few rows of a join that every owner needs are gathered by [`broadcast`].

mod broadcast;
mod codec;
mod portable;
mod receive;
mod remote;
mod rule;
mod wire;

pub(crate) use portable::Portable;
pub(crate) use receive::Receiver;
pub(crate) use rule::ShipBundles;

use crate::error::{Error, SqlState};
use crate::scan::places::Elsewhere;
use crate::scan::spread_scan::SpreadScan;
use crate::system;
use crate::translate::external;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use datafusion::prelude::SessionConfig;
use remote::RemoteBundle;
use std::sync::Arc;

/// The setting that says whether operators go to the rows.
pub(crate) const BUNDLING: &str = "pando.bundling";

/// What a statement knows about shipping.
pub(crate) struct Shipping {
    pub(crate) portable: Arc<Portable>,
    /// Whether more than scans is shipped.
    pub(crate) bundling: bool,
}

impl Shipping {
    /// What a configuration says.
    pub(crate) fn of(config: &SessionConfig) -> Result<Arc<Self>> {
        let portable = config.get_extension::<Portable>().ok_or_else(|| {
            let message = "the engine does not know what may be shipped";
            external(Error::new(SqlState::InternalError, message))
        })?;
        let bundling = system::setting(config, BUNDLING).is_none_or(|value| value != "none");
        Ok(Arc::new(Self { portable, bundling }))
    }
}

/// A scan without operators above it: the rows that are here, and those that others send.
pub(crate) fn whole_scan(scan: &SpreadScan) -> Result<Arc<dyn ExecutionPlan>> {
    everywhere(Arc::new(scan.here.clone()), &scan.elsewhere)
}

/// A bundle, run here and by every other owner.
fn everywhere(
    bundle: Arc<dyn ExecutionPlan>,
    elsewhere: &Elsewhere,
) -> Result<Arc<dyn ExecutionPlan>> {
    let mut parts = vec![Arc::clone(&bundle)];
    for owner in 0..elsewhere.owners().len() {
        let part = RemoteBundle::new(Arc::clone(&bundle), elsewhere.clone(), owner)?;
        parts.push(Arc::new(part));
    }
    match parts.len() {
        1 => Ok(bundle),
        _ => UnionExec::try_new(parts),
    }
}
