//! `SpreadScan`: a scan of rows on several servers, as long as a statement is being planned.
//!
//! For the optimizer it is a leaf that takes predicates, columns and a limit as a [`BucketScan`]
//! does. The last rule of the optimizer (crate `distributed`) replaces it and operators above it by
//! plan fragments. It has no order, because rows come from several servers at once.

use crate::bucket_scan::{BucketScan, statistics};
use crate::leaf;
use crate::places::Elsewhere;
use crate::shipping::Shipping;
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

/// The lowest estimated selectivity of a predicate over rows of several servers. An estimate that
/// is too low leads to broadcasts of too many rows. It is the engine's default selectivity.
const SELECTIVITY_MIN: f64 = 0.2;

/// Makes the plan that reads all rows of a scan. It is an extension of the engine's configuration, so that this crate need not
/// know how rows of other servers are read.
pub struct ReadEverywhere(pub fn(&SpreadScan) -> Result<Arc<dyn ExecutionPlan>>);

/// Reads a table's rows wherever they are.
pub struct SpreadScan {
    /// The scan on this server; the others read the same columns of their ranges.
    pub here: BucketScan,
    /// The ranges of other servers.
    pub elsewhere: Elsewhere,
    /// How operators may run there.
    pub shipping: Arc<Shipping>,
    properties: Arc<PlanProperties>,
}

impl SpreadScan {
    /// A scan of this server's rows, and of those elsewhere.
    pub fn new(here: BucketScan, elsewhere: Elsewhere, shipping: Arc<Shipping>) -> Self {
        let partitions = here.piece_ranges.len() + elsewhere.owners().len();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&here.schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        )
        .with_scheduling_type(SchedulingType::Cooperative);
        Self { here, elsewhere, shipping, properties: Arc::new(properties) }
    }

    /// An estimate of rows or bytes for all servers. `here` is the number on this server, `total`
    /// that of the table, `share` the part of it that is returned. If the scan reads only a part of
    /// this server's rows, servers are supposed to hold equal numbers.
    fn of_all(&self, here: usize, total: Option<u64>, share: f64) -> Precision<usize> {
        let coverage = &self.here.coverage;
        let is_part = coverage.buckets < coverage.buckets_in_table
            || coverage.chunks_pruned > 0
            || self.here.limit.is_some();
        // The known total may be older than the rows that are here.
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
            let server = self.elsewhere.name_of(self.elsewhere.leader_of(*owner));
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

    /// Only for plans in which the optimizer's last rule has not replaced the scan: those that
    /// EXPLAIN (ANALYZE, PREDICT) runs.
    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        match context.session_config().get_extension::<ReadEverywhere>() {
            Some(read) => read.0(self)?.execute(partition, context),
            None => internal_err!("{self:?} was not replaced by plan fragments"),
        }
    }

    /// An estimate from the table's totals, and from this server's rows, as servers hold about
    /// equal shares.
    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.here.schema);
        let total = self.elsewhere.peers()?.0.total(self.here.table.id);
        if args.partition().is_none() {
            let (rows, bytes) = statistics::in_pieces(&self.here);
            let kept = statistics::selectivity(&self.here).max(SELECTIVITY_MIN);
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
