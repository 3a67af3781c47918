//! Sorts, window functions, and top-N.

use super::{Builder, at_least_one, column};
use crate::flow::Flow;
use crate::terms::Rows;
use datafusion::arrow::datatypes::Schema;
use datafusion::physical_expr::window::{
    SlidingAggregateWindowExpr, StandardWindowExpr, WindowExpr,
};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::partitioned_topk::PartitionedTopKExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use dbsim::plan::{Kind, Task, Term};
use scan::estimate::{Column, fixed_bytes};
use std::sync::Arc;
use values::Result;

impl Builder<'_> {
    pub(super) fn sort(&mut self, sort: &SortExec) -> Result<Flow> {
        let input = self.flow(sort.input())?;
        let Flow { operator, rows, columns } = input;
        match sort.fetch().filter(|fetch| (*fetch as f64) < rows) {
            Some(fetch) => {
                let note = format!("the first {fetch} in order: as an aggregate of {fetch} groups");
                self.guesses.note(note);
                let flow = self.push(Kind::Aggregate, &[operator], fetch as f64, columns, None);
                self.operators[flow.operator].functions = 1.0;
                Ok(flow)
            }
            None => {
                let schema = sort.input().schema();
                let by = Rows { rows, columns: &columns, schema: &schema };
                let bytes = sort.expr().iter().filter_map(|key| by.bytes_of_text(&key.expr)).sum();
                let flow = self.push(Kind::Sort, &[operator], rows, columns, None);
                let is_number = |key: &PhysicalSortExpr| {
                    key.expr.data_type(&schema).is_ok_and(|of| fixed_bytes(&of).is_some())
                };
                if !matches!(&sort.expr()[..], [key] if is_number(key)) {
                    self.computes(flow.operator, vec![Term::new(Task::Order, rows, bytes)]);
                }
                Ok(flow)
            }
        }
    }

    /// Window functions; their input is sorted.
    pub(super) fn window(
        &mut self,
        plan: &Arc<dyn ExecutionPlan>,
        functions: &[Arc<dyn WindowExpr>],
    ) -> Result<Flow> {
        let below = plan.children()[0];
        let input = self.flow(below)?;
        let arguments = functions.iter().flat_map(|function| function.expressions());
        let mut computed = input.over(&below.schema()).terms(&arguments.collect::<Vec<_>>());
        let tasks = functions.iter().filter_map(task);
        computed.extend(tasks.map(|task| Term::new(task, input.rows, 0.0)));
        let partitions = self.partitions(functions[0].partition_by(), &below.schema(), &input)?;
        let mut columns = input.columns.clone();
        for function in functions {
            columns.push(Column::of_type(function.field()?.data_type()));
        }
        let flow = self.push(Kind::Window, &[input.operator], input.rows, columns, None);
        let operator = &mut self.operators[flow.operator];
        operator.functions = functions.len() as f64;
        operator.partitions = partitions;
        self.computes(flow.operator, computed);
        Ok(flow)
    }

    /// The first rows of each partition.
    pub(super) fn first_of_partitions(&mut self, first: &PartitionedTopKExec) -> Result<Flow> {
        let input = self.flow(first.input())?;
        let by = first.expr().iter().take(first.partition_prefix_len());
        let by: Vec<_> = by.map(|key| Arc::clone(&key.expr)).collect();
        let partitions = self.partitions(&by, &first.input().schema(), &input)?;
        let fetch = first.fetch();
        let supposed = partitions * fetch as f64;
        let rows = self.counted(first, at_least_one(supposed.min(input.rows), input.rows));
        self.guesses.note(format!(
            "the first {fetch} of each partition in order: as an aggregate of {rows:.0} groups"
        ));
        let flow = self.push(Kind::Aggregate, &[input.operator], rows, input.columns.clone(), None);
        self.operators[flow.operator].functions = 1.0;
        Ok(flow)
    }

    /// The number of partitions of a window; 0 without PARTITION BY.
    fn partitions(
        &mut self,
        by: &[Arc<dyn PhysicalExpr>],
        schema: &Schema,
        input: &Flow,
    ) -> Result<f64> {
        if by.is_empty() {
            return Ok(0.0);
        }
        let known =
            |key: &Arc<dyn PhysicalExpr>| Ok(column(key, &key.return_field(schema)?, input));
        let columns: Vec<Column> = by.iter().map(known).collect::<Result<_>>()?;
        Ok(self.distinct("partitions", &columns, input))
    }
}

/// The additional computation for each row, if there is one.
fn task(function: &Arc<dyn WindowExpr>) -> Option<Task> {
    if function.as_any().downcast_ref::<SlidingAggregateWindowExpr>().is_some() {
        return Some(Task::Moving);
    }
    if let Some(standard) = function.as_any().downcast_ref::<StandardWindowExpr>() {
        let evaluator = standard.get_standard_func_expr().create_evaluator().ok()?;
        return (evaluator.include_rank() || evaluator.uses_window_frame()).then_some(Task::Rank);
    }
    let frame = function.get_window_frame();
    let is_whole = frame.start_bound.is_unbounded() && frame.end_bound.is_unbounded();
    (!is_whole).then_some(Task::Running)
}
