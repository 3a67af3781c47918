//! From the engine's operators to the simulator's.
//!
//! A filter reduces the rows of the scan or join below it. Projections, limits and exchanges are
//! not operators of the simulator. Operators that it does not have are refused.

mod groups;
mod joins;
mod orders;
mod scans;
mod sources;
mod subqueries;

use crate::flow::Flow;
use crate::refused;
use crate::subqueries::Subquery;
use crate::tables::KnownTables;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::async_func::AsyncFuncExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::sorts::partitioned_topk::PartitionedTopKExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use dbsim::Plan;
use dbsim::plan::{Kind, Operator, OperatorId, Table, Term};
use distributed::kinds::{self, scan_of};
use scan::estimate::{Column, Guesses, Input, column_of, copied_row_bytes, row_bytes};
use scan::lookup_join::LookupJoin;
use std::sync::Arc;
use values::{Error, Result};

/// What is known in addition to a plan.
pub(super) struct Known<'a> {
    pub(super) tables: &'a KnownTables,
    /// Correlated subqueries.
    pub(super) subqueries: &'a [Subquery],
    /// Maximum rows of a batch.
    pub(super) batch_rows: f64,
}

/// The simulator's plan of a physical plan, and the assumptions about its rows. If the plan
/// `was_run`, its counted rows are used.
///
/// # Errors
/// 0A000 with the name of an operator that the simulator does not have.
pub(super) fn of_plan(
    plan: &Arc<dyn ExecutionPlan>,
    known: &Known<'_>,
    was_run: bool,
) -> Result<(Plan, Guesses)> {
    let (operators, guesses) = (Vec::new(), Guesses::default());
    let uncounted = Guesses::default();
    let mut builder = Builder { known, was_run, operators, guesses, uncounted, rounds: Vec::new() };
    builder.flow(plan)?;
    let plan = Plan::new("query", builder.operators).map_err(refused)?;
    let mut guesses = if was_run {
        Guesses::of("the query was run once: the rows of operators are those that it had")
    } else {
        builder.guesses
    };
    builder.uncounted.lines().iter().for_each(|line| guesses.note(line.clone()));
    Ok((plan, guesses))
}

struct Builder<'a> {
    known: &'a Known<'a>,
    was_run: bool,
    operators: Vec<Operator>,
    /// Assumptions about rows that are not counted.
    guesses: Guesses,
    /// Assumptions also of a plan that was run.
    uncounted: Guesses,
    /// The input rows of an iteration, for each enclosing recursion.
    rounds: Vec<Flow>,
}

impl Builder<'_> {
    /// The rows that an operator returned when the plan was run, at least one unless there can be
    /// none; otherwise the estimate.
    fn counted(&self, plan: &dyn ExecutionPlan, supposed: f64) -> f64 {
        let counted = || match plan.metrics()?.output_rows()? {
            0 => Some(supposed.min(1.0)),
            rows => Some(rows as f64),
        };
        self.was_run.then(counted).flatten().unwrap_or(supposed)
    }

    fn flow(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        // The simulator has no lookups by the keys of a join: it is the hash join without them.
        if let Some(lookup) = plan.downcast_ref::<LookupJoin>() {
            return self.flow(lookup.join());
        }
        if let Some(scan) = scan_of(plan) {
            return self.scan(plan, scan);
        }
        if let Some(filter) = plan.downcast_ref::<FilterExec>() {
            return self.filter(filter);
        }
        if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
            let input = self.flow(projection.input())?;
            let schema = plan.schema();
            let of = |(expr, field): (&Arc<dyn PhysicalExpr>, _)| column(expr, field, &input);
            let exprs = projection.expr().iter().map(|projected| &projected.expr);
            let terms = input.over(&projection.input().schema()).terms(exprs.clone());
            self.computes(input.operator, terms);
            let columns = exprs.zip(schema.fields()).map(of).collect();
            return Ok(Flow { columns, ..input });
        }
        if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
            return self.aggregate(aggregate);
        }
        if let Some(sort) = plan.downcast_ref::<SortExec>() {
            return self.sort(sort);
        }
        // The simulator does their work as part of other operators, or not at all.
        if kinds::moves_rows(plan) || kinds::hands_rows_on(plan) {
            let input = self.flow(plan.children()[0])?;
            return Ok(match plan.fetch() {
                Some(fetch) => self.limited(input, fetch),
                None => input,
            });
        }
        if kinds::of_join(plan).is_some() {
            return self.join(plan);
        }
        self.other(plan)
    }

    /// Operators that neither the paper nor TPC-H has.
    fn other(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        if let Some(window) = plan.downcast_ref::<WindowAggExec>() {
            return self.window(plan, window.window_expr());
        }
        if let Some(window) = plan.downcast_ref::<BoundedWindowAggExec>() {
            return self.window(plan, window.window_expr());
        }
        if let Some(first) = plan.downcast_ref::<PartitionedTopKExec>() {
            return self.first_of_partitions(first);
        }
        if plan.downcast_ref::<UnionExec>().is_some()
            || plan.downcast_ref::<InterleaveExec>().is_some()
        {
            return self.union(plan);
        }
        if let Some(recursion) = plan.downcast_ref::<RecursiveQueryExec>() {
            return self.recursion(recursion);
        }
        if let Some(unnest) = plan.downcast_ref::<UnnestExec>() {
            return self.unnest(unnest);
        }
        if plan.downcast_ref::<AsyncFuncExec>().is_some() {
            return self.waiting(plan);
        }
        if plan.children().is_empty() {
            return self.values(plan);
        }
        Err(missing(plan.name()))
    }

    /// Adds the computations of an operator's expressions.
    fn computes(&mut self, operator: OperatorId, terms: Vec<Term>) {
        self.operators[operator].terms.extend(terms);
    }

    fn filter(&mut self, filter: &FilterExec) -> Result<Flow> {
        let mut flow = self.flow(filter.input())?;
        let below = filter.input().schema();
        let terms = flow.over(&below).filtered(filter.predicate(), |_| None);
        self.computes(flow.operator, terms);
        let input = Input { rows: flow.rows, columns: &flow.columns };
        let kept = input.kept(filter.predicate(), &mut self.guesses);
        flow.rows = self.counted(filter, at_least_one(flow.rows * kept, flow.rows));
        let below = &mut self.operators[flow.operator];
        if below.kind.is_scan() || below.kind.is_join() {
            below.rows = below.rows.min(flow.rows);
        }
        if let Some(chosen) = filter.projection() {
            flow.columns = chosen.iter().map(|column| flow.columns[*column]).collect();
        }
        Ok(match filter.fetch() {
            Some(fetch) => self.limited(flow, fetch),
            None => flow,
        })
    }

    fn limited(&mut self, flow: Flow, fetch: usize) -> Flow {
        if fetch as f64 >= flow.rows {
            return flow;
        }
        self.guesses.note(format!("LIMIT {fetch} does not stop the operators below it early"));
        Flow { rows: fetch as f64, ..flow }
    }

    fn push(
        &mut self,
        kind: Kind,
        children: &[OperatorId],
        rows: f64,
        columns: Vec<Column>,
        table: Option<Table>,
    ) -> Flow {
        let of_children = children.iter().map(|child| self.operators[*child].rows);
        let most = if kind.is_join() { of_children.product() } else { f64::INFINITY };
        let operator = Operator::new(kind, children, rows.min(most), row_bytes(&columns));
        let copied_row_bytes = Some(copied_row_bytes(&columns));
        self.operators.push(Operator { table, copied_row_bytes, ..operator });
        Flow { operator: self.operators.len() - 1, rows, columns }
    }
}

/// A number of rows among `of`, at least one unless there is none.
fn at_least_one(rows: f64, of: f64) -> f64 {
    rows.round().max(1.0).min(of)
}

/// What is known of an expression's values: for a column its statistics, otherwise only the type.
fn column(expr: &Arc<dyn PhysicalExpr>, field: &FieldRef, input: &Flow) -> Column {
    let known = column_of(expr).and_then(|column| input.columns.get(column).copied());
    known.unwrap_or_else(|| Column::of_type(field.data_type()))
}

fn missing(operator: &str) -> Error {
    let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    Error::unsupported(format!("the simulator has nothing that does the work of {operator}"))
        .with_detail(format!("There are {}.", known.join(", ")))
}
