//! `SpreadScan`: a scan some of whose rows are on other servers, for as long as a statement is being planned.
//!
//! To the optimizer it is one leaf that takes predicates, columns and a limit as a [`BucketScan`] does. In the end
//! [`ship`](crate::ship) makes of it, and of operators above it, what runs here and what others run. It promises no
//! order: rows come from several servers at once.

use super::bucket_scan::BucketScan;
use super::places::Elsewhere;
use crate::ship::{self, Shipping};
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
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
    fn name(&self) -> &'static str {
        "SpreadScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

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

    /// Only for plans that are run without having been optimized.
    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        ship::whole_scan(self)?.execute(partition, context)
    }

    /// Servers hold about equal shares, which is all that is known of the rows of others.
    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.here.schema);
        let here = self.here.statistics_from_inputs(&[], &StatisticsArgs::new())?;
        let servers = 1 + self.elsewhere.owners().len();
        if args.partition().is_none() && here.num_rows.get_value().is_some_and(|rows| *rows > 0) {
            let of_all = |share: &Precision<usize>| match share.get_value() {
                Some(share) => Precision::Inexact(share.saturating_mul(servers)),
                None => Precision::Absent,
            };
            statistics.num_rows = of_all(&here.num_rows);
            statistics.total_byte_size = of_all(&here.total_byte_size);
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
