//! Plans that compute rows one after the other.
//!
//! The function of a user may read what a statement has done so far, or change something. Below each operator that calls a
//! volatile function stands an operator that gives it one row at a time, and asks for the next one no sooner than the
//! operators above do. The rows of VALUES are computed when the plan runs, not when it is made.
//!
//! Over several servers such an operator takes all rows before it gives the first: a server that still sends rows of the
//! statement cannot take part in what a function does.

use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{
    EmptyRelation, Expr, ExprSchemable, LogicalPlan, Projection, Union, Values, Volatility,
};
use datafusion::physical_expr::{EquivalenceProperties, ScalarFunctionExpr};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties,
    Partitioning, PlanProperties, ReplaceChildrenOptions,
};
use executor::{InOrder, one_input};
use futures::{StreamExt, TryStreamExt, stream};
use std::fmt;
use std::sync::Arc;

/// A plan in which rows of VALUES with volatile functions are queries of one row each.
pub(super) fn without_values(plan: LogicalPlan) -> Result<LogicalPlan> {
    let rows = |plan| match plan {
        LogicalPlan::Values(values) if is_volatile(&values) => {
            Ok(Transformed::yes(one_by_one(values)?))
        }
        plan => Ok(Transformed::no(plan)),
    };
    plan.transform_up_with_subqueries(rows).data()
}

fn is_volatile(values: &Values) -> bool {
    values.values.iter().flatten().any(Expr::is_volatile)
}

fn one_by_one(Values { schema, values }: Values) -> Result<LogicalPlan> {
    let mut rows = Vec::with_capacity(values.len());
    for row in values {
        let empty = EmptyRelation { produce_one_row: true, schema: Arc::new(DFSchema::empty()) };
        let empty = LogicalPlan::EmptyRelation(empty);
        let cells = row.into_iter().zip(schema.fields()).map(|(cell, field)| {
            let cell = cell.cast_to(field.data_type(), empty.schema())?;
            Ok(cell.alias(field.name()))
        });
        let cells = cells.collect::<Result<Vec<_>>>()?;
        let row = Projection::try_new_with_schema(cells, Arc::new(empty), Arc::clone(&schema))?;
        rows.push(Arc::new(LogicalPlan::Projection(row)));
    }
    match rows.as_slice() {
        [only] => Ok(LogicalPlan::clone(only)),
        _ => Ok(LogicalPlan::Union(Union { inputs: rows, schema })),
    }
}

/// Whether a condition calls a volatile function.
pub(super) fn has_volatile_filter(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|plan| match plan {
        LogicalPlan::Filter(filter) => Ok(filter.predicate.is_volatile()),
        LogicalPlan::TableScan(scan) => Ok(scan.filters.iter().any(Expr::is_volatile)),
        _ => Ok(false),
    })
}

/// The calls of functions of sequences for one row.
#[derive(Default)]
struct SequenceCalls {
    /// Those that change what others return.
    moves: usize,
    reads: usize,
}

impl SequenceCalls {
    fn add(&mut self, expr: &Expr) -> Result<TreeNodeRecursion> {
        expr.apply(|part| {
            if let Expr::ScalarFunction(call) = part {
                match call.name() {
                    "nextval" | "setval" => self.moves += 1,
                    "currval" | "lastval" => self.reads += 1,
                    _ => {}
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })
    }

    fn depend_on_order(&self) -> bool {
        self.moves > 1 || self.moves == 1 && self.reads > 0
    }
}

/// Whether a row has several values of sequences, which depend on one another.
pub(super) fn mixes_sequences(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|plan| {
        let LogicalPlan::Values(values) = plan else {
            let mut calls = SequenceCalls::default();
            plan.apply_expressions(|expr| calls.add(expr))?;
            return Ok(calls.depend_on_order());
        };
        for row in &values.values {
            let mut calls = SequenceCalls::default();
            for cell in row {
                calls.add(cell)?;
            }
            if calls.depend_on_order() {
                return Ok(true);
            }
        }
        Ok(false)
    })
}

/// A plan with one row at a time below all volatile functions, and with one partition.
pub(super) fn in_turn(
    plan: Arc<dyn ExecutionPlan>,
    is_spread: bool,
) -> Result<Arc<dyn ExecutionPlan>> {
    let one_at_a_time = |node: Arc<dyn ExecutionPlan>| {
        if let Some(sides) = node.downcast_ref::<InOrder>()
            && calls_below(sides.input())?
        {
            return Ok(Transformed::yes(InTurn::over(Arc::clone(sides.input()), false)?));
        }
        if let Some(merged) = node.downcast_ref::<CoalescePartitionsExec>()
            && calls_below(merged.input())?
        {
            let rows = InTurn::over(Arc::clone(merged.input()), false)?;
            return Ok(Transformed::yes(match merged.fetch() {
                Some(fetch) => Arc::new(GlobalLimitExec::new(rows, 0, Some(fetch))),
                None => rows,
            }));
        }
        let children = node.children();
        if !calls_volatile(&node)? || children.is_empty() {
            return Ok(Transformed::no(node));
        }
        let children = children.into_iter().map(|child| InTurn::over(Arc::clone(child), is_spread));
        let children = children.collect::<Result<Vec<_>>>()?;
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Transformed::yes(node.replace_children(children, options)?))
    };
    let plan = plan.transform_up(one_at_a_time).data()?;
    let plan = match plan.output_partitioning().partition_count() {
        1 => plan,
        _ => InTurn::over(plan, false)?,
    };
    if is_spread { drained(plan) } else { Ok(plan) }
}

/// A plan that takes all rows of servers before volatile functions are called.
///
/// # Errors
/// An operator does not fit.
pub fn drained(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if plan.downcast_ref::<InTurn>().is_some_and(|turn| turn.is_drained) {
        return Ok(plan);
    }
    let is_in_turn = |node: &Arc<dyn ExecutionPlan>| Ok(node.downcast_ref::<InTurn>().is_some());
    if !plan.exists(is_in_turn)? {
        return InTurn::over(plan, true);
    }
    let children = plan.children().into_iter().map(|child| drained(Arc::clone(child)));
    let children = children.collect::<Result<Vec<_>>>()?;
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    plan.replace_children(children, options)
}

/// Whether an operator, or one below it, calls a volatile function. Aggregates and window functions of users are not executed.
fn calls_below(node: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    node.exists(calls_volatile)
}

fn calls_volatile(node: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(&mut |expr| {
        expr.apply(|part| {
            let function = part.downcast_ref::<ScalarFunctionExpr>();
            let volatility = function.map(|call| call.fun().signature().volatility);
            found |= volatility == Some(Volatility::Volatile);
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

/// The rows of an operator, one after the other. Partitions that call functions come in their order; others may wait for one
/// another, as those of joins do.
#[derive(Debug)]
struct InTurn {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    /// Whether all rows are taken before the first is given.
    is_drained: bool,
}

impl InTurn {
    fn over(input: Arc<dyn ExecutionPlan>, is_drained: bool) -> Result<Arc<dyn ExecutionPlan>> {
        let is_one = input.output_partitioning().partition_count() == 1;
        let input = match is_one || calls_below(&input)? {
            true => input,
            false => Arc::new(CoalescePartitionsExec::new(input)),
        };
        let known = match input.output_partitioning().partition_count() {
            1 => input.equivalence_properties().clone(),
            _ => EquivalenceProperties::new(input.schema()),
        };
        let partitions = Partitioning::UnknownPartitioning(1);
        let (emission, bounds) = (EmissionType::Incremental, Boundedness::Bounded);
        let properties = Arc::new(PlanProperties::new(known, partitions, emission, bounds));
        Ok(Arc::new(Self { input, properties, is_drained }))
    }
}

impl DisplayAs for InTurn {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InTurn")
    }
}

impl ExecutionPlan for InTurn {
    one_input!("InTurn", input, |turn, input| Self::over(input, turn.is_drained));

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.input.output_partitioning().partition_count() == 1]
    }

    fn execute(&self, _: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (input, schema) = (Arc::clone(&self.input), self.schema());
        let partitions = 0..input.output_partitioning().partition_count();
        let partitions = stream::iter(partitions).map(move |partition| {
            let rows = input.execute(partition, Arc::clone(&context))?;
            let rows = rows.map_ok(|batch| stream::iter(rows_of(batch)).map(Ok)).try_flatten();
            Ok::<_, DataFusionError>(rows)
        });
        let rows = partitions.try_flatten();
        if !self.is_drained {
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)));
        }
        let all = stream::once(rows.try_collect::<Vec<_>>());
        let rows = all.map_ok(|rows| stream::iter(rows).map(Ok)).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

fn rows_of(batch: RecordBatch) -> impl Iterator<Item = RecordBatch> {
    (0..batch.num_rows()).map(move |row| batch.slice(row, 1))
}
