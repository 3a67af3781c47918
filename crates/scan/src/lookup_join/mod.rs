//! `LookupJoin`: a hash join that first looks up the rows of its right side by the keys of the left side.
//!
//! The left rows are collected, as a hash join does in any case. Their keys name the rows of a table, by its primary key
//! or an index (`way`). The join then reads only these rows: of one server from its buckets, of several with one
//! message an owner. If there are too many keys, it reads what it would have read. The rows that are looked up are at
//! least those that join, and the join compares them again: its answer does not depend on how they were found.
//!
//! Invariant: rows of the right side without a partner are not in the output (`rule` takes no other joins).
//! In everything but execution it is the join. Not here: the choice of the sides, which the engine makes by size.

mod entries;
mod found;
mod joined;
mod keys;
mod right;
mod rule;
mod sorted;
mod way;

pub use rule::LookupJoins;
pub(crate) use rule::with_lookups;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, SharedResult, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::{EmptyRecordBatchStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, TryStreamExt};
use parking_lot::Mutex;
use right::Right;
use std::fmt;
use std::sync::Arc;

/// The join that runs, once it is known which rows it reads. All partitions run the same one.
type Prepared = Shared<BoxFuture<'static, SharedResult<Arc<dyn ExecutionPlan>>>>;

/// A hash join whose right side is looked up.
pub struct LookupJoin {
    /// The join, which may have checks around it.
    join: Arc<dyn ExecutionPlan>,
    /// The rows of its right side.
    right: Right,
    /// By what they are found, for EXPLAIN.
    by: Arc<str>,
    /// What is expected of the output, if the right side is not among the children.
    statistics: Arc<Statistics>,
    prepared: Mutex<Option<Prepared>>,
    metrics: ExecutionPlanMetricsSet,
}

impl LookupJoin {
    /// The join without lookups.
    pub fn join(&self) -> &Arc<dyn ExecutionPlan> {
        &self.join
    }

    fn around(&self, join: Arc<dyn ExecutionPlan>) -> Self {
        Self {
            join,
            right: self.right.clone(),
            by: Arc::clone(&self.by),
            statistics: Arc::clone(&self.statistics),
            prepared: Mutex::default(),
            metrics: self.metrics.clone(),
        }
    }

    fn inputs(&self) -> [&Arc<dyn ExecutionPlan>; 2] {
        let children = self.join.children();
        [children[0], children[1]]
    }

    fn prepared(&self, context: &Arc<TaskContext>) -> Prepared {
        let prepare = || {
            let [left, right] = self.inputs();
            let found = found::Finding {
                join: Arc::clone(&self.join),
                left: Arc::clone(left),
                right: Arc::clone(right),
                rows: self.right.clone(),
                context: Arc::clone(context),
                metrics: self.metrics.clone(),
            };
            async move { found.prepared().await.map_err(Arc::new) }.boxed().shared()
        };
        self.prepared.lock().get_or_insert_with(prepare).clone()
    }
}

impl fmt::Debug for LookupJoin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LookupJoin({}, {:?})", self.by, self.join)
    }
}

impl DisplayAs for LookupJoin {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match form {
            DisplayFormatType::TreeRender => {
                writeln!(f, "by={}", self.by)?;
                self.join.fmt_as(form, f)
            }
            _ => {
                write!(f, "LookupJoin: by={}, else ", self.by)?;
                self.join.fmt_as(form, f)
            }
        }
    }
}

impl ExecutionPlan for LookupJoin {
    fn name(&self) -> &'static str {
        "LookupJoin"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.join.properties()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        let requirements = self.join.input_distribution_requirements();
        if !self.right.is_spread() {
            return requirements;
        }
        let mut of_left = requirements.into_per_child();
        of_left.truncate(1);
        InputDistributionRequirements::new(of_left)
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false; self.children().len()]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        let [left, right] = self.inputs();
        if self.right.is_spread() { vec![left] } else { vec![left, right] }
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.join.apply_expressions(visit)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if self.right.is_spread() {
            children.push(Arc::clone(self.inputs()[1]));
        }
        let join = Arc::clone(&self.join).replace_children(children, options)?;
        Ok(Arc::new(self.around(join)))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    /// A recursive query executes its recursive part again and again.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.around(Arc::clone(&self.join).reset_state()?)))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        match self.right.is_spread() {
            true => vec![ChildStats::Skip],
            false => self.join.child_stats_requests(partition),
        }
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match self.right.is_spread() {
            true if args.partition().is_none() => Ok(Arc::clone(&self.statistics)),
            true => Ok(Arc::new(Statistics::new_unknown(&self.schema()))),
            false => self.join.statistics_from_inputs(inputs, args),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        // What comes from other servers is one partition.
        if self.right.is_spread() && partition > 0 {
            return Ok(Box::pin(EmptyRecordBatchStream::new(schema)));
        }
        let prepared = self.prepared(&context);
        let rows = async move {
            let join = prepared.await.map_err(DataFusionError::Shared)?;
            join.execute(partition, context)
        };
        let rows = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut all = self.join.metrics().unwrap_or_default();
        let own = self.metrics.clone_inner();
        own.iter().for_each(|metric| all.push(Arc::clone(metric)));
        Some(all)
    }
}

/// The hash join, below checks around it.
fn hash_join(plan: &Arc<dyn ExecutionPlan>) -> Option<&HashJoinExec> {
    plan.downcast_ref::<HashJoinExec>()
}
