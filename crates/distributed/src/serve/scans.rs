//! The scans of a fragment of another server.

use crate::sites::Sites;
use crate::wire::fragment::Scan;
use crate::wire::out_of_range;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::conjunction;
use datafusion::physical_plan::ExecutionPlan;
use scan::bucket_scan::BucketScan;
use scan::places::{self, Elsewhere};
use scan::provider::plan_schema;
use scan::shipping::Gathering;
use std::sync::Arc;
use store::Reading;
use values::Result;

/// A scan of a fragment: this server's rows, and those that have moved to other servers.
pub(super) async fn whole_scan(
    reading: &Reading,
    scan: &Scan<'_>,
    context: &Arc<TaskContext>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let (here, elsewhere) = found(reading, scan, context).await?;
    let sites = Sites::owners(vec![elsewhere]);
    Ok(sites.everywhere(Arc::new(here), Gathering::PUSH, usize::MAX)?)
}

/// What a scan of a fragment reads: the rows on this server, and the ranges of other owners.
///
/// # Errors
/// 08P01 if columns are out of range; 40001 if the table has changed.
pub(crate) async fn found(
    reading: &Reading,
    scan: &Scan<'_>,
    context: &Arc<TaskContext>,
) -> Result<(BucketScan, Elsewhere)> {
    let view = reading.table(scan.table()).filter(|view| {
        let columns = view.table().columns.len();
        view.table().version == scan.version && scan.read.iter().all(|read| *read < columns)
    });
    let Some(view) = view else {
        let relation = format!("table {}", scan.table().0);
        return Err(store::Error::SchemaConflict { relation }.into());
    };
    if scan.output.iter().any(|out| *out >= scan.read.len()) {
        return Err(out_of_range("a fragment's columns are out of range"));
    }
    let schema = Arc::new(plan_schema(view.table(), &scan.read));
    let (predicate, hint) = (scan.predicate(context)?, scan.hint(context)?);
    let conjuncts: Vec<_> = predicate.into_iter().chain(hint).collect();
    let all = (!conjuncts.is_empty()).then(|| conjunction(conjuncts.iter().cloned()));
    let places::Found { pieces, coverage, here: ranges, elsewhere } =
        places::find(&view, &scan.ranges, all.as_ref(), &schema, &scan.read).await?;
    let table = Arc::clone(view.table());
    let partitions = context.session_config().target_partitions();
    let here = BucketScan::new(table, pieces, scan.read.clone(), schema, partitions, coverage);
    let here = here.with_conjuncts(conjuncts)?;
    let here = here.with_output(&scan.output)?.with_limit(scan.limit);
    Ok((here, Elsewhere::new(view, ranges, elsewhere).with_hops(scan.hops)))
}
