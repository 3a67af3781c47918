//! Hash joins whose build side turns out to be too large for the memory limit.
//!
//! A hash join keeps one of its inputs in memory. Which one, and whether it fits, is chosen by estimates. If it does not
//! fit, the query is planned again with joins that sort their inputs, in temporary files where necessary. The client must
//! not have seen a row by then: hash joins build before they return rows, so the first rows are awaited.

use datafusion::common::DataFusionError;
use datafusion::common::stats::Precision;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use std::sync::Arc;

/// The share of the limit that a build side is known to fit into: a divisor.
const SMALL_SHARE: u64 = 16;

/// The name of the memory of a hash join.
const BUILD_SIDE: &str = "HashJoinInput";

/// Whether a plan has a hash join of which it is not certain that its build side is small.
pub fn are_possible(plan: &Arc<dyn ExecutionPlan>, limit: u64) -> bool {
    if let Some(join) = plan.downcast_ref::<HashJoinExec>()
        && !is_small(join.left(), limit)
    {
        return true;
    }
    plan.children().into_iter().any(|input| are_possible(input, limit))
}

fn is_small(input: &Arc<dyn ExecutionPlan>, limit: u64) -> bool {
    let known = StatisticsContext::new().compute(&**input, &StatisticsArgs::new());
    let Ok(Precision::Exact(bytes)) = known.map(|known| known.total_byte_size) else {
        return false;
    };
    bytes as u64 <= limit / SMALL_SHARE
}

/// Whether a query failed while a hash join held much of the memory.
pub fn have_failed(error: &DataFusionError) -> bool {
    matches!(
        error.find_root(),
        DataFusionError::ResourcesExhausted(message) if message.contains(BUILD_SIDE)
    )
}
