//! An operator that checks between batches whether its statement has to end.

use super::predicate;
use super::wide::check_width;
use crate::held::Held;
use crate::late::LateSubqueries;
use crate::scope::check;
use crate::short_circuit::with_short_circuits;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::distribution_requirements::InputDistributionRequirements;
use datafusion::physical_plan::execution_plan::{CardinalityEffect, InvariantLevel};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::Stream;
use std::any::Any;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use values::translate::external;

/// An operator with a check between its batches. In everything but execution it is the operator.
#[derive(Debug)]
pub(super) struct Stoppable {
    operator: Arc<dyn ExecutionPlan>,
    /// The operator that is executed, whose predicate has a check. It is made once, since the partitions of a join share
    /// their build side.
    executed: OnceLock<Arc<dyn ExecutionPlan>>,
    /// The columns that the join above it copies, and that may be wide.
    copied: Arc<[usize]>,
    /// Whether the operator above keeps all rows, without reserving memory for them.
    is_kept: bool,
}

impl Stoppable {
    pub(super) fn new(operator: Arc<dyn ExecutionPlan>) -> Self {
        Self { operator, executed: OnceLock::new(), copied: Arc::default(), is_kept: false }
    }

    /// The input of a join that copies the values of some columns.
    pub(super) fn join_input(operator: Arc<dyn ExecutionPlan>, copied: Vec<usize>) -> Self {
        Self { copied: copied.into(), ..Self::new(operator) }
    }

    /// The input of an operator that keeps all rows, and does not account for them.
    pub(super) fn kept_input(operator: Arc<dyn ExecutionPlan>) -> Self {
        Self { is_kept: true, ..Self::new(operator) }
    }

    /// Another operator with the same checks.
    fn around(&self, operator: Arc<dyn ExecutionPlan>) -> Self {
        Self {
            operator,
            executed: OnceLock::new(),
            copied: Arc::clone(&self.copied),
            is_kept: self.is_kept,
        }
    }

    fn executed(&self) -> Result<&Arc<dyn ExecutionPlan>> {
        if let Some(executed) = self.executed.get() {
            return Ok(executed);
        }
        let executed = with_check(&self.operator)?;
        Ok(self.executed.get_or_init(|| executed))
    }
}

/// The operator as it is executed: a join with a check in its predicate, any with short circuits in its expressions, one with
/// subqueries whose errors may come late.
fn with_check(operator: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(subqueries) = operator.downcast_ref::<ScalarSubqueryExec>() {
        return Ok(Arc::new(LateSubqueries::of(subqueries)?));
    }
    if let Some(join) = operator.downcast_ref::<NestedLoopJoinExec>()
        && let Some(filter) = join.filter()
    {
        let filter = Some(predicate::with_check(filter)?);
        let join = NestedLoopJoinExec::try_new(
            Arc::clone(join.left()),
            Arc::clone(join.right()),
            filter,
            join.join_type(),
            join.projection().as_ref().map(|projection| projection.to_vec()),
        )?;
        return Ok(Arc::new(join));
    }
    if let Some(join) = operator.downcast_ref::<HashJoinExec>()
        && let Some(filter) = join.filter()
    {
        return join.builder().with_filter(Some(predicate::with_check(filter)?)).build_exec();
    }
    if let Some(join) = operator.downcast_ref::<SortMergeJoinExec>()
        && let Some(filter) = join.filter()
    {
        let join = SortMergeJoinExec::try_new(
            Arc::clone(join.left()),
            Arc::clone(join.right()),
            join.on().to_vec(),
            Some(predicate::with_check(filter)?),
            join.join_type(),
            join.sort_options().to_vec(),
            join.null_equality(),
        )?;
        return Ok(Arc::new(join));
    }
    with_short_circuits(operator)
}

impl DisplayAs for Stoppable {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operator.fmt_as(form, f)
    }
}

impl ExecutionPlan for Stoppable {
    fn name(&self) -> &str {
        self.operator.name()
    }

    fn downcast_delegate(&self) -> Option<&dyn ExecutionPlan> {
        Some(&*self.operator)
    }

    fn schema(&self) -> SchemaRef {
        self.operator.schema()
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.operator.properties()
    }

    fn check_invariants(&self, check: InvariantLevel) -> Result<()> {
        self.operator.check_invariants(check)
    }

    fn dynamic_expressions_produced(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        self.operator.dynamic_expressions_produced()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.operator.input_distribution_requirements()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        self.operator.required_input_ordering()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        self.operator.benefits_from_input_partitioning()
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        self.operator.child_stats_requests(partition)
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.operator.statistics_from_inputs(inputs, args)
    }

    fn supports_limit_pushdown(&self) -> bool {
        self.operator.supports_limit_pushdown()
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(self.around(self.operator.with_fetch(limit)?)))
    }

    fn fetch(&self) -> Option<usize> {
        self.operator.fetch()
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        self.operator.cardinality_effect()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.operator.maintains_input_order()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.operator.children()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.operator.apply_expressions(visit)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(self.around(Arc::clone(&self.operator).replace_children(children, options)?)))
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
        Ok(Arc::new(self.around(Arc::clone(&self.operator).reset_state()?)))
    }

    fn with_new_state(&self, state: Arc<dyn Any + Send + Sync>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(Arc::new(self.around(self.operator.with_new_state(state)?)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = self.executed()?.execute(partition, context)?;
        let kept = self.is_kept.then(|| (Held::nothing(), 0));
        Ok(Box::pin(Checked { rows, copied: Arc::clone(&self.copied), kept }))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.executed.get().unwrap_or(&self.operator).metrics()
    }
}

/// Rows with a check before each batch.
struct Checked {
    rows: SendableRecordBatchStream,
    copied: Arc<[usize]>,
    /// The memory of the rows so far, if the operator above keeps them.
    kept: Option<(Held, u64)>,
}

impl Checked {
    fn account(&mut self, batch: &RecordBatch) -> values::error::Result<()> {
        check_width(batch, &self.copied)?;
        if let Some((held, bytes)) = &mut self.kept {
            // The rows are concatenated in the end.
            *bytes += 2 * batch.get_array_memory_size() as u64;
            held.grow_to(*bytes)?;
        }
        Ok(())
    }
}

impl Stream for Checked {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Err(ended) = check() {
            return Poll::Ready(Some(Err(external(ended))));
        }
        let poll = self.rows.as_mut().poll_next(context);
        if let Poll::Ready(Some(Ok(batch))) = &poll
            && let Err(too_much) = self.account(batch)
        {
            return Poll::Ready(Some(Err(external(too_much))));
        }
        poll
    }
}

impl RecordBatchStream for Checked {
    fn schema(&self) -> SchemaRef {
        self.rows.schema()
    }
}
