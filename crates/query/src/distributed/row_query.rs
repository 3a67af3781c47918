//! Queries that give rows of one table, each made from one row: the owners of rows can run them and change the rows in place.

use super::receive::{found, out_of_range};
use super::remote::{self, RemoteFragment};
use super::wire::{Branch, Fragment, Input, Output, Ready};
use crate::scan::bucket_scan::BucketScan;
use crate::scan::places::Elsewhere;
use crate::values::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use sdds::KeyRange;
use std::sync::Arc;
use store::{Reading, TableView};

/// A query over one table whose rows are on several servers.
pub(crate) struct RowQuery {
    fragment: Arc<dyn ExecutionPlan>,
    /// The rows that other servers own.
    pub(crate) elsewhere: Elsewhere,
}

impl RowQuery {
    /// A plan as a query that owners can run; `None` if its rows depend on more than one row of its table.
    pub(crate) fn of(query: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let (fragment, elsewhere) = remote::whole(query).and_then(RemoteFragment::over_table)?;
        let (fragment, elsewhere) = (Arc::clone(fragment), elsewhere.clone());
        is_by_row(&fragment).then_some(Self { fragment, elsewhere })
    }

    /// The query as bytes for the owner of the rows in some ranges.
    ///
    /// # Errors
    /// 40001 if the rows have moved too often.
    pub(crate) async fn to_bytes(
        &self,
        ranges: &[KeyRange],
        context: &Arc<TaskContext>,
    ) -> Result<Vec<u8>> {
        let ready = Ready::of(&self.fragment, 0, context).await?;
        let own = [(ranges.to_vec(), self.elsewhere.next_hop()?)];
        Ok(ready.to_bytes(&own, Branch::ALONE, Output::Sent)?)
    }
}

/// A query of another server, over the rows of this one.
pub(crate) struct OwnRows {
    /// The plan that gives the rows.
    pub(crate) plan: Arc<dyn ExecutionPlan>,
    /// The table.
    pub(crate) view: TableView,
    /// Ranges of keys that were asked for and have left this server.
    pub(crate) not_here: Vec<KeyRange>,
}

impl OwnRows {
    /// Reads a query that [`RowQuery::to_bytes`] has written.
    ///
    /// # Errors
    /// 08P01 if the bytes are no such query.
    pub(crate) async fn from_bytes(
        reading: &Reading,
        bytes: &[u8],
        context: &Arc<TaskContext>,
    ) -> Result<Self> {
        let fragment = Fragment::from_bytes(bytes)?;
        let Input::Scans(scans) = &fragment.input else {
            return Err(out_of_range("a DML pushdown is of no table"));
        };
        let ([scan], None, None) = (&scans[..], fragment.exchange, fragment.store) else {
            return Err(out_of_range("a DML pushdown is of one table"));
        };
        let (here, elsewhere) = found(reading, scan, context).await?;
        let not_here = elsewhere.owners().iter().flat_map(|(_, ranges)| ranges.clone()).collect();
        let plan = fragment.plan(vec![Arc::new(here)], context)?;
        if !is_by_row(&plan) {
            return Err(out_of_range("a DML pushdown does not fit its table"));
        }
        Ok(Self { plan, view: elsewhere.view().clone(), not_here })
    }
}

/// Whether a fragment gives rows of its table in the order of the table's keys, each made from one row.
fn is_by_row(fragment: &Arc<dyn ExecutionPlan>) -> bool {
    let mut node = fragment;
    loop {
        if let Some(scan) = node.downcast_ref::<BucketScan>() {
            return scan.limit.is_none();
        }
        let is_plain = node.downcast_ref::<ProjectionExec>().is_some()
            || node.downcast_ref::<FilterExec>().is_some_and(|filter| filter.fetch().is_none());
        match node.children()[..] {
            [child] if is_plain => node = child,
            _ => return false,
        }
    }
}
