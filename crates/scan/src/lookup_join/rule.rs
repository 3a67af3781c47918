//! The rule of the physical optimizer: which joins become lookups.

use super::right::Right;
use super::sorted::Unsorted;
use super::{LookupJoin, hash_join};
use crate::bucket_scan::{BucketScan, statistics};
use crate::spread_scan::SpreadScan;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use parking_lot::Mutex;
use std::sync::Arc;

/// Rows of a table below which its rows are read without looking them up.
const ROWS_MIN: usize = 10_000;

/// How many times as many rows a table has as the left side reads and is expected to have, at least. The join decides again when
/// it knows the left rows. If it reads the whole table then, it is slower than the engine's join, which narrows the scan of the
/// right side by the keys of the left one.
const TIMES_LEFT: usize = 100;

/// Joins that read a few rows of a large table by its keys look these up.
#[derive(Debug)]
pub struct LookupJoins;

impl PhysicalOptimizerRule for LookupJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        with_lookups(plan)
    }

    fn name(&self) -> &str {
        "lookup_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The plan, whose joins look rows up where that pays.
pub(crate) fn with_lookups(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        if let Some(join) = looked_up(&node)? {
            return Ok(Transformed::yes(Arc::new(join) as Arc<dyn ExecutionPlan>));
        }
        if let Some(unsorted) = Unsorted::of(&node)?
            && let Some(join) = looked_up(&unsorted.join)?
        {
            return Ok(Transformed::yes(unsorted.sorted(Arc::new(join))));
        }
        Ok(Transformed::no(node))
    })
    .data()
}

/// The join with lookups; `None` if it is no hash join that can have them, or if they do not pay.
fn looked_up(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<LookupJoin>> {
    let Some(join) = hash_join(plan).filter(|join| drops_rest_of_right(join)) else {
        return Ok(None);
    };
    let Some(right) = Right::of(join) else { return Ok(None) };
    let is_by_owner = *join.partition_mode() == PartitionMode::CollectLeft;
    if right.is_spread() && !is_by_owner || right.rows() < ROWS_MIN {
        return Ok(None);
    }
    let is_few = |rows: usize| rows.saturating_mul(TIMES_LEFT) <= right.rows();
    let is_small =
        is_few(rows_read(join.left())) && rows_of(join.left()).map_or(!right.is_spread(), is_few);
    let Some(by) = right.way()?.map(|way| way.name()).filter(|_| is_small) else {
        return Ok(None);
    };
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?;
    Ok(Some(LookupJoin {
        join: Arc::clone(plan),
        right,
        by,
        statistics,
        prepared: Mutex::default(),
        metrics: ExecutionPlanMetricsSet::new(),
    }))
}

/// Whether rows of the right side that join with none may be left out, and NULL joins with nothing.
fn drops_rest_of_right(join: &HashJoinExec) -> bool {
    let by_type = matches!(
        join.join_type(),
        JoinType::Inner
            | JoinType::Left
            | JoinType::LeftSemi
            | JoinType::LeftAnti
            | JoinType::LeftMark
            | JoinType::RightSemi
    );
    by_type && !join.null_aware && join.null_equality() == NullEquality::NullEqualsNothing
}

/// The rows of tables that are read for a plan, of which conditions and joins leave fewer, or more. How many is a guess that is
/// often far too low.
fn rows_read(plan: &Arc<dyn ExecutionPlan>) -> usize {
    if let Some(scan) = plan.downcast_ref::<BucketScan>() {
        return statistics::in_pieces(scan).0;
    }
    if plan.is::<SpreadScan>() {
        return rows_of(plan).unwrap_or(usize::MAX);
    }
    // What is looked up is few, or it is not known yet.
    if plan.is::<LookupJoin>() {
        return 0;
    }
    plan.children().into_iter().map(rows_read).fold(0, usize::saturating_add)
}

/// The expected number of rows.
fn rows_of(plan: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
    statistics.ok().and_then(|known| known.num_rows.get_value().copied())
}
