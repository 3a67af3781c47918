//! `SpreadScan`: a scan some of whose rows are on other servers, for as long as a statement is being planned.
//!
//! To the optimizer it is one leaf that takes predicates, columns and a limit as a [`BucketScan`] does. In the end
//! the crate `distributed` makes of it, and of operators above it, what runs here and what others run. It promises no
//! order: rows come from several servers at once.

use super::bucket_scan::BucketScan;
use super::leaf::leaf;
use super::places::Elsewhere;
use super::statistics;
use crate::scan::shipping::Shipping;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, SchedulingType};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use std::fmt;
use std::sync::Arc;

/// The least part of the rows of several servers that a predicate is believed to keep: who believes in too few sends too many to
/// everybody. It is what the engine supposes of predicates.
const KEPT_LEAST: f64 = 0.2;

/// Reads a table's rows wherever they are.
pub(crate) struct SpreadScan {
    /// What is read on this server; others read the same of their ranges.
    pub(crate) here: BucketScan,
    pub(crate) elsewhere: Elsewhere,
    pub(crate) shipping: Arc<Shipping>,
    properties: Arc<PlanProperties>,
}

impl SpreadScan {
    pub(crate) fn new(here: BucketScan, elsewhere: Elsewhere, shipping: Arc<Shipping>) -> Self {
        let partitions = here.stretches.len() + elsewhere.owners().len();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&here.schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Self { here, elsewhere, shipping, properties: Arc::new(properties) }
    }

    /// A figure for all servers, of which so large a share comes out: what the table has, unless the rows that are here have
    /// shown that not all of them will be read.
    fn of_all(&self, here: usize, total: Option<u64>, share: f64) -> Precision<usize> {
        let coverage = &self.here.coverage;
        let is_part = coverage.buckets < coverage.buckets_in_table
            || coverage.chunks_pruned > 0
            || self.here.limit.is_some();
        // What was heard may be older than the rows that are here.
        let total = total.map(|total| (total as usize).max(here));
        let servers = 1 + self.elsewhere.owners().len();
        let by_share = (here > 0).then(|| here.saturating_mul(servers));
        let all = match by_share {
            Some(by_share) if is_part => Some(total.map_or(by_share, |total| total.min(by_share))),
            by_share => total.or(by_share),
        };
        all.map_or(Precision::Absent, |all| Precision::Inexact((all as f64 * share) as usize))
    }

    fn with(&self, here: BucketScan) -> Arc<dyn ExecutionPlan> {
        Arc::new(Self::new(here, self.elsewhere.clone(), Arc::clone(&self.shipping)))
    }
}

impl fmt::Debug for SpreadScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpreadScan({})", self.here.name_of_table())
    }
}

impl DisplayAs for SpreadScan {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.here.fmt_as(t, f)?;
        for (owner, ranges) in self.elsewhere.owners() {
            let server = self.elsewhere.server(*owner);
            write!(f, ", server {server}: {}", self.elsewhere.shown(ranges))?;
        }
        Ok(())
    }
}

impl ExecutionPlan for SpreadScan {
    leaf!("SpreadScan");

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.here.apply_expressions(f)
    }

    fn repartitioned(
        &self,
        partitions: usize,
        _: &ConfigOptions,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        Ok(self.here.divided(partitions).map(|here| self.with(here)))
    }

    /// The optimizer's last rule replaces the scan by plan fragments before a plan runs.
    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("{self:?} was not made into plan fragments")
    }

    /// What is known of the rows of others: how many there are in all, and that servers hold about equal shares.
    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.here.schema);
        let total = self.elsewhere.peers()?.0.total(self.here.table.id);
        if args.partition().is_none() {
            let (rows, bytes) = statistics::in_pieces(&self.here);
            let kept = statistics::kept(&self.here).max(KEPT_LEAST);
            let columns = statistics::share_of_columns(&self.here);
            statistics.num_rows = self.of_all(rows, total.map(|total| total.rows), kept);
            statistics.total_byte_size =
                self.of_all(bytes, total.map(|total| total.bytes), kept * columns);
        }
        Ok(Arc::new(statistics))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(self.with(self.here.clone().with_limit(limit)))
    }

    fn fetch(&self) -> Option<usize> {
        self.here.limit
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        Ok(self.here.projected(projection)?.map(|here| self.with(here)))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        child_pushdown_result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let takes = |filter: &Arc<dyn PhysicalExpr>| self.shipping.portable.filter(filter);
        let (answers, here) = self.here.filtered(child_pushdown_result, takes)?;
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        Ok(match here {
            Some(here) => propagation.with_updated_node(self.with(here)),
            None => propagation,
        })
    }
}
