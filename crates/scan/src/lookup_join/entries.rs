//! The rows that entries of an index name. The entries of other servers are read with one message an owner.

use super::right::everywhere;
use crate::bucket_scan::BucketScan;
use crate::index_lookup::disjoint;
use crate::places::{self, Elsewhere, Found};
use crate::provider::plan_schema;
use crate::shipping::Shipping;
use crate::spread_scan::SpreadScan;
use datafusion::arrow::array::AsArray;
use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;
use sdds::{Key, KeyRange};
use std::sync::Arc;
use store::TableView;
use values::translate::external;

/// The column of an entry with the key of its row.
const ROW: usize = 1;

/// The keys of the rows with entries in some ranges of an index's file; `None` if there are more than `most`. `shipping`
/// says how rows of other servers are read, if there are others.
pub(super) async fn rows(
    file: &TableView,
    ranges: &[KeyRange],
    most: usize,
    shipping: Option<&Arc<Shipping>>,
    context: &Arc<TaskContext>,
) -> Result<Option<Vec<KeyRange>>> {
    let keys = match shipping {
        Some(shipping) => gathered(file, ranges, most, shipping, context).await?,
        None => {
            let found = file.rows_of_entries(ranges, most).await;
            found.map_err(|error| external(error.into()))?
        }
    };
    Ok(keys.map(|keys| disjoint(keys.iter().map(KeyRange::point).collect())))
}

async fn gathered(
    file: &TableView,
    ranges: &[KeyRange],
    most: usize,
    shipping: &Arc<Shipping>,
    context: &Arc<TaskContext>,
) -> Result<Option<Vec<Key>>> {
    let schema = Arc::new(plan_schema(file.table(), &[ROW]));
    let Found { pieces, coverage, here, elsewhere } =
        places::find(file, ranges, None, &schema, &[ROW]).await?;
    let scan = BucketScan::new(Arc::clone(file.table()), pieces, vec![ROW], schema, 1, coverage);
    let plan: Arc<dyn ExecutionPlan> = if elsewhere.is_empty() {
        Arc::new(scan)
    } else {
        let elsewhere = Elsewhere::new(file.clone(), here, elsewhere);
        let scan = SpreadScan::new(scan, elsewhere, Arc::clone(shipping));
        everywhere(&scan, context.session_config())?
    };
    let mut entries = execute_stream(plan, Arc::clone(context))?;
    let mut keys = Vec::new();
    while let Some(batch) = entries.try_next().await? {
        keys.extend(batch.column(0).as_binary_view().iter().flatten().map(Key::from));
        if keys.len() > most {
            return Ok(None);
        }
    }
    Ok(Some(keys))
}
