//! Queries that return rows of one table, each made from one row. The owners of the rows can run
//! them and change the rows in place.

use crate::remote::{self, Ready, RemoteFragment};
use crate::serve::found;
use crate::wire::fragment::{Fragment, Input};
use crate::wire::out_of_range;
use crate::wire::output::{Branch, Output};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use scan::bucket_scan::BucketScan;
use scan::places::Elsewhere;
use sdds::KeyRange;
use std::sync::Arc;
use store::{Reading, TableView};
use values::Result;

/// A query over one table whose rows are on several servers.
pub struct RowQuery {
    fragment: Arc<dyn ExecutionPlan>,
    /// The ranges of other owners.
    pub elsewhere: Elsewhere,
}

impl RowQuery {
    /// The plan as a query that owners can run; `None` if a result depends on more than one row of
    /// the table.
    pub fn of(query: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let (fragment, elsewhere) = remote::whole(query).and_then(RemoteFragment::over_table)?;
        let (fragment, elsewhere) = (Arc::clone(fragment), elsewhere.clone());
        is_by_row(&fragment).then_some(Self { fragment, elsewhere })
    }

    /// The query as bytes for the owner of `ranges`.
    ///
    /// # Errors
    /// 40001 if the ranges have been forwarded too often.
    pub async fn to_bytes(
        &self,
        ranges: &[KeyRange],
        context: &Arc<TaskContext>,
    ) -> Result<Vec<u8>> {
        let ready = Ready::of(&self.fragment, 0, context).await?;
        let own = [(ranges.to_vec(), self.elsewhere.next_hop()?)];
        Ok(ready.to_bytes(&own, Branch::ALONE, Output::Sent)?)
    }
}

/// A query of another server over the rows of this one.
pub struct OwnRows {
    /// The plan that returns the rows.
    pub plan: Arc<dyn ExecutionPlan>,
    /// The table.
    pub view: TableView,
    /// Requested key ranges that this server no longer owns.
    pub not_here: Vec<KeyRange>,
}

impl OwnRows {
    /// Reads a query that [`RowQuery::to_bytes`] has written.
    ///
    /// # Errors
    /// 08P01 if the bytes are no such query.
    pub async fn from_bytes(
        reading: &Reading,
        bytes: &[u8],
        context: &Arc<TaskContext>,
    ) -> Result<Self> {
        let fragment = Fragment::from_bytes(bytes)?;
        let Input::Scans(scans) = &fragment.input else {
            return Err(out_of_range("a DML pushdown reads no table"));
        };
        let ([scan], None, None) = (&scans[..], fragment.exchange, fragment.store) else {
            return Err(out_of_range("a DML pushdown must read exactly one table"));
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

/// Whether a fragment returns rows in the order of the table's keys, each made from one row.
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
