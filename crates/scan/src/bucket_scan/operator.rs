//! [`BucketScan`] as an operator of the engine.

use super::pieces::Coverage;
use super::scan::BucketScan;
use super::{statistics, stream};
use crate::leaf;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, SortOrderPushdownResult,
};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use store::End;

impl fmt::Debug for BucketScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BucketScan({})", self.name_of_table())
    }
}

impl DisplayAs for BucketScan {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(t, DisplayFormatType::TreeRender) {
            writeln!(f, "table={}", self.name_of_table())?;
            writeln!(f, "buckets={}/{}", self.coverage.buckets, self.coverage.buckets_in_table)?;
            return writeln!(f, "pruned chunks={}", self.coverage.chunks_pruned);
        }
        let columns: Vec<&str> = self.schema.fields().iter().map(|f| f.name().as_str()).collect();
        let Coverage { buckets, buckets_in_table, chunks, chunks_pruned } = self.coverage;
        write!(
            f,
            "BucketScan: table={}, buckets={buckets}/{buckets_in_table}, chunks={chunks}, \
             chunks_pruned={chunks_pruned}, partitions={}, columns=[{}]",
            self.name_of_table(),
            self.piece_ranges.len(),
            columns.join(", "),
        )?;
        if let Some(index) = &self.index {
            write!(f, ", index={index}")?;
        }
        if let Some(predicate) = &self.predicate {
            write!(f, ", predicate={predicate}")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, ", hint={hint}")?;
        }
        if let Some(limit) = self.limit {
            write!(f, ", limit={limit}")?;
        }
        if self.from == End::Last {
            write!(f, ", backwards")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for BucketScan {
    leaf!("BucketScan");

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for expression in self.predicate.iter().chain(&self.hint) {
            f(expression)?;
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn repartitioned(
        &self,
        partitions: usize,
        _: &ConfigOptions,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        Ok(self.divided(partitions).map(|scan| Arc::new(scan) as Arc<dyn ExecutionPlan>))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        stream::open(self, partition, &context)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let of_scan = || statistics::of_scan(self, args.partition());
        Ok(match args.partition() {
            None => self.overall.get_or_init(of_scan),
            Some(_) => Arc::new(of_scan()),
        })
    }

    /// Replaces the scan below the checks around it.
    fn with_new_state(&self, scan: Arc<dyn Any + Send + Sync>) -> Option<Arc<dyn ExecutionPlan>> {
        scan.downcast::<Self>().ok().map(|scan| scan as Arc<dyn ExecutionPlan>)
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(self.clone().with_limit(limit)))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
    ) -> Result<SortOrderPushdownResult<Arc<dyn ExecutionPlan>>> {
        // The rows that a limit has chosen are not the first ones in another order.
        let scan = if self.limit.is_none() { self.ordered(order)? } else { None };
        Ok(match scan {
            Some(scan) => SortOrderPushdownResult::Exact { inner: Arc::new(scan) },
            None => SortOrderPushdownResult::Unsupported,
        })
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let scan = self.projected(projection)?;
        Ok(scan.map(|scan| Arc::new(scan) as Arc<dyn ExecutionPlan>))
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        child_pushdown_result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let (answers, scan) = self.filtered(child_pushdown_result, |_| true)?;
        let propagation = FilterPushdownPropagation::with_parent_pushdown_result(answers);
        Ok(match scan {
            Some(scan) => propagation.with_updated_node(Arc::new(scan) as Arc<dyn ExecutionPlan>),
            None => propagation,
        })
    }
}
