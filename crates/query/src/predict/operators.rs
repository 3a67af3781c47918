//! From the engine's operators to the simulator's.
//!
//! The simulator has scans, joins, sorts, group-bys and aggregates. A filter belongs to the scan or the join below it, as
//! fewer rows of it; projections, limits and exchanges are no operators there. Everything else is refused.

use super::joins::Join;
use super::refused;
use super::tables::KnownTables;
use super::terms::{Rows, listed};
use crate::engine::BATCH_ROWS;
use crate::error::{Error, Result};
use crate::estimate::{
    Column, Guesses, Input, column_of, compared, copied_row_bytes, fixed_bytes, percent, row_bytes,
};
use crate::kinds::{self, scan_of};
use crate::scan::bucket_scan::BucketScan;
use crate::scan::conjuncts::name_of_rows_left;
use crate::scan::stream::handed_on_whole;
use crate::scan::{handed_on, hint};
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::JoinType;
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};
use dbsim::Plan;
use dbsim::plan::{Kind, Operator, OperatorId, Table, Task, Term};
use std::sync::Arc;

/// How the engine calls the arrays that it has in the place of a join's hash table.
const ARRAYS: &str = "array_map_created_count";

/// Up to which part of a table's rows an index is used.
const INDEXED: f64 = 0.01;

/// Of how many rows a piece is handed on as it lies.
const PASSED_ON: f64 = handed_on_whole(BATCH_ROWS) as f64;

/// Rows on their way from an operator to the next.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    operator: OperatorId,
    pub(super) rows: f64,
    pub(super) columns: Vec<Column>,
}

/// The simulator's plan of a physical one, and what was supposed of its rows. Of a plan that `was_run` they are counted
/// and not supposed.
///
/// # Errors
/// 0A000 with the name of an operator that the simulator does not have.
pub(super) fn of_plan(
    plan: &Arc<dyn ExecutionPlan>,
    known: &KnownTables,
    was_run: bool,
) -> Result<(Plan, Guesses)> {
    let (operators, guesses) = (Vec::new(), Guesses::default());
    let mut builder = Builder { known, was_run, operators, guesses };
    builder.flow(plan)?;
    let plan = Plan::new("query", builder.operators).map_err(refused)?;
    let guesses = match was_run {
        true => Guesses::of("the query was run once: the rows of operators are those that it had"),
        false => builder.guesses,
    };
    Ok((plan, guesses))
}

impl Flow {
    /// Its rows, of which something is computed.
    pub(super) fn over<'a>(&'a self, schema: &'a Schema) -> Rows<'a> {
        Rows { rows: self.rows, columns: &self.columns, schema }
    }
}

struct Builder<'a> {
    known: &'a KnownTables,
    was_run: bool,
    operators: Vec<Operator>,
    guesses: Guesses,
}

impl Builder<'_> {
    /// The rows that an operator had when the plan was run, at least one; else those that it is supposed to have.
    fn counted(&self, plan: &dyn ExecutionPlan, supposed: f64) -> f64 {
        let counted = || plan.metrics()?.output_rows().map(|rows| rows.max(1) as f64);
        self.was_run.then(counted).flatten().unwrap_or(supposed)
    }

    fn flow(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
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
        // The simulator does their work where it needs it, or has none of it.
        if kinds::moves_rows(plan) || kinds::hands_rows_on(plan) {
            let input = self.flow(plan.children()[0])?;
            return Ok(match plan.fetch() {
                Some(fetch) => self.limited(input, fetch),
                None => input,
            });
        }
        self.join(plan)
    }

    fn scan(&mut self, plan: &Arc<dyn ExecutionPlan>, scan: &BucketScan) -> Result<Flow> {
        let name = scan.name_of_table();
        let Some(table) = self.known.get(&scan.table.id) else {
            return Err(Error::unsupported(format!("nothing is known of table \"{name}\"")));
        };
        if table.is_spread {
            self.guesses.note(format!("{name}: bounds of its columns as on this server"));
        }
        let read: Vec<Column> = scan.read.iter().map(|column| table.columns[*column]).collect();
        let kept = match &scan.predicate {
            Some(predicate) => {
                Input { rows: table.rows, columns: &read }.kept(predicate, &mut self.guesses)
            }
            None => 1.0,
        };
        let left = at_least_one(table.rows * kept, table.rows);
        let is_first = |limit: &usize| scan.predicate.is_none() && (*limit as f64) < left;
        let first = scan.limit.filter(is_first);
        let rows = self.counted(&**plan, first.map_or(left, |limit| limit as f64));
        let compared = scan.predicate.as_ref().map_or_else(Vec::new, compared);
        let key = scan.table.key_indices().first().copied();
        let by_key = compared.iter().any(|column| Some(scan.read[*column]) == key);
        let is_indexed = rows <= INDEXED * table.rows && (by_key || first.is_some());
        let kind = self.kind_of_scan(&name, is_indexed);
        let stored = Table {
            name: name.to_string(),
            rows: table.rows,
            row_bytes: row_bytes(&table.columns),
        };
        let columns: Vec<Column> = scan.output.iter().map(|column| read[*column]).collect();
        let (looked_at, pieces) = table.looked_at(&scan.pieces);
        let looked_at = looked_at.max(rows);
        if looked_at < table.rows {
            let left = percent(looked_at / table.rows.max(1.0));
            self.guesses.note(format!(
                "{name}: zone maps leave {left} of its rows to look at (where work is on columns)"
            ));
        }
        let input = Rows { rows: looked_at, columns: &read, schema: &scan.read_schema };
        let terms = self.terms_of_scan(scan, &input, left);
        let whole = looked_at >= pieces * PASSED_ON && rows >= looked_at;
        let few = rows < pieces * PASSED_ON && rows < looked_at;
        let rows_if = |all: bool, name: &str| {
            self.metric(scan, name).unwrap_or(if all { rows } else { 0.0 }).min(rows)
        };
        let in_place_rows = rows_if(whole, handed_on::NAME_OF_IN_PLACE);
        let gathered_rows = rows_if(few, handed_on::NAME_OF_GATHERED);
        let runs = self.metric(scan, handed_on::NAME_OF_RUNS);
        let flow = self.push(kind, &[], rows, columns, Some(stored));
        let operator = &mut self.operators[flow.operator];
        operator.looked_at = Some(looked_at);
        operator.pieces = pieces;
        (operator.in_place_rows, operator.gathered_rows) = (in_place_rows, gathered_rows);
        operator.read_row_bytes = row_bytes(&read);
        operator.columns = scan.read.len() as f64;
        operator.copied_columns = scan.output.len() as f64;
        let was_seen = |column: &&usize| compared.contains(column);
        let seen: Vec<Column> =
            scan.output.iter().filter(was_seen).map(|column| read[*column]).collect();
        operator.seen_row_bytes = copied_row_bytes(&seen);
        operator.terms = terms;
        operator.listed = scan.predicate.as_ref().map_or(0.0, listed);
        operator.run_rows = runs.map(|runs| (rows - in_place_rows) / runs.max(1.0));
        Ok(flow)
    }

    /// How a scan finds its rows, noted where it is by an index.
    fn kind_of_scan(&mut self, name: &str, is_indexed: bool) -> Kind {
        if !is_indexed {
            return Kind::SequentialScan;
        }
        let most = percent(INDEXED);
        self.guesses
            .note(format!("{name}: an index finds its rows, which are {most} of all or fewer"));
        Kind::IndexScan
    }

    /// What a scan has counted, if it was run.
    fn metric(&self, scan: &BucketScan, name: &str) -> Option<f64> {
        let metrics = self.was_run.then(|| scan.metrics.clone_inner())?;
        Some(metrics.sum_by_name(name)?.as_usize() as f64)
    }

    /// What a scan computes to choose rows, of which its predicate leaves so many.
    fn terms_of_scan(&self, scan: &BucketScan, input: &Rows<'_>, left: f64) -> Vec<Term> {
        let mut terms = scan.predicate.as_ref().map_or_else(Vec::new, |predicate| {
            input.filtered(predicate, |at| self.metric(scan, &name_of_rows_left(at)))
        });
        if let Some(hint) = &scan.hint {
            let values = self.metric(scan, hint::NAME_OF_ROWS).unwrap_or(left);
            if scan.predicate.is_some() {
                terms.extend(input.chosen(values, hint));
            }
            terms.push(Term::new(Task::Find, values, 0.0));
        }
        terms
    }

    /// What an operator computes beside its work.
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

    fn aggregate(&mut self, aggregate: &AggregateExec) -> Result<Flow> {
        let input = self.flow(aggregate.input())?;
        let by = aggregate.group_expr();
        if by.has_grouping_set() {
            return Err(missing("GROUPING SETS", aggregate.name()));
        }
        let schema = aggregate.schema();
        let groups = by.expr().iter().zip(schema.fields());
        let mut columns: Vec<Column> =
            groups.map(|((expr, _), field)| column(expr, field, &input)).collect();
        let values = schema.fields().iter().skip(columns.len());
        columns.extend(values.map(|field| Column::of_type(field.data_type())));
        if kinds::is_of_parts(aggregate) {
            return Ok(Flow { columns, ..input });
        }
        let functions = aggregate.aggr_expr().len() as f64;
        let (mut child, mut rows) = (input.operator, 1.0);
        let read = aggregate.input().schema();
        let arguments = aggregate.aggr_expr().iter().flat_map(|function| function.expressions());
        let computed = input.over(&read).terms(&arguments.collect::<Vec<_>>());
        let keys = input.over(&read).keys(by.expr().iter().map(|(key, _)| key));
        if !by.is_empty() {
            self.operators[child].ordered =
                matches!(aggregate.input_order_mode(), InputOrderMode::Sorted);
            let supposed = self.groups(&columns[..by.expr().len()], &input);
            rows = self.counted(aggregate, supposed);
            child = self.push(Kind::GroupBy, &[child], input.rows, input.columns, None).operator;
            self.computes(child, keys);
        }
        let flow = self.push(Kind::Aggregate, &[child], rows, columns, None);
        self.operators[flow.operator].functions = functions;
        self.computes(flow.operator, computed);
        Ok(flow)
    }

    /// How many groups there are: as many as the columns have values together, and no more than rows.
    fn groups(&mut self, by: &[Column], input: &Flow) -> f64 {
        let groups: f64 = by.iter().map(|column| column.distinct_of(input.rows)).product();
        let rows = at_least_one(groups.min(input.rows), input.rows);
        let why = match by.iter().all(|column| column.distinct.is_some()) {
            true => "by the values that their columns can have",
            false => "200 values of each column of which nothing is known, as PostgreSQL supposes",
        };
        self.guesses.note(format!("{rows:.0} groups of {:.0} rows ({why})", input.rows));
        rows
    }

    fn sort(&mut self, sort: &SortExec) -> Result<Flow> {
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

    fn join(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        let sides_of = match plan.children()[..] {
            [left, right] if kinds::of_join(plan).is_some() => [left, right],
            _ => return Err(missing(what_is(plan), plan.name())),
        };
        let [left, right] = [self.flow(sides_of[0])?, self.flow(sides_of[1])?];
        let sides = [&left, &right];
        let join = if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
            let mut sought = join.on().iter().map(|(_, key)| key);
            self.operators[right.operator].ordered =
                first_of_order(join.right()).is_some_and(|first| sought.any(|key| key.eq(&first)));
            let projection = join.projection.as_deref();
            let (keys, join_type) = (join.on(), *join.join_type());
            Join { sides, keys, filter: join.filter(), join_type, projection }
        } else if let Some(join) = plan.downcast_ref::<SortMergeJoinExec>() {
            for side in sides {
                self.operators[side.operator].ordered = true;
            }
            let filter = join.filter().as_ref();
            Join { sides, keys: join.on(), filter, join_type: join.join_type(), projection: None }
        } else if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
            let projection = join.projection().as_deref();
            let join_type = *join.join_type();
            Join { sides, keys: &[], filter: join.filter(), join_type, projection }
        } else {
            Join { sides, keys: &[], filter: None, join_type: JoinType::Inner, projection: None }
        };
        let kind = kinds::of_join(plan).unwrap_or(Kind::NestedLoopJoin);
        let supposed = join.rows(&mut self.guesses);
        let rows = self.counted(&**plan, supposed);
        let columns = join.columns();
        let built_row_bytes = copied_row_bytes(&join.columns_of_table());
        let terms = join.terms(rows, &[sides_of[0].schema(), sides_of[1].schema()]);
        let close_keys = match self.was_run.then(|| plan.metrics()).flatten() {
            Some(metrics) => metrics.sum_by_name(ARRAYS).is_some_and(|made| made.as_usize() > 0),
            None => join.has_close_keys(&sides_of[0].schema()),
        };
        let array = if close_keys { "; those of the first lie close, in an array" } else { "" };
        self.guesses.note(format!(
            "a {} of {:.0} and {:.0} rows makes {rows:.0} (each key as often as another{array})",
            kind.name(),
            left.rows,
            right.rows
        ));
        let flow = self.push(kind, &[left.operator, right.operator], rows, columns, None);
        let operator = &mut self.operators[flow.operator];
        operator.builds_first = kind == Kind::HashJoin;
        operator.close_keys = operator.builds_first && close_keys;
        if operator.builds_first {
            operator.built_row_bytes = built_row_bytes;
        }
        self.computes(flow.operator, terms);
        Ok(flow)
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
        let most = match kind.is_join() {
            true => children.iter().map(|child| self.operators[*child].rows).product(),
            false => f64::INFINITY,
        };
        let operator = Operator::new(kind, children, rows.min(most), row_bytes(&columns));
        let copied_row_bytes = Some(copied_row_bytes(&columns));
        self.operators.push(Operator { table, copied_row_bytes, ..operator });
        Flow { operator: self.operators.len() - 1, rows, columns }
    }
}

/// What rows are ordered by before all else, if they are.
fn first_of_order(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn PhysicalExpr>> {
    plan.properties().output_ordering().map(|order| Arc::clone(&order.first().expr))
}

/// A number of rows: one where there are any at all.
fn at_least_one(rows: f64, of: f64) -> f64 {
    rows.round().max(1.0).min(of)
}

/// What is known of an expression's values: all of a column, of others the type.
fn column(expr: &Arc<dyn PhysicalExpr>, field: &FieldRef, input: &Flow) -> Column {
    let known = column_of(expr).and_then(|column| input.columns.get(column).copied());
    known.unwrap_or_else(|| Column::of_type(field.data_type()))
}

/// What people call an operator that the simulator does not have.
fn what_is(plan: &Arc<dyn ExecutionPlan>) -> &str {
    match plan.name() {
        "WindowAggExec" | "BoundedWindowAggExec" | "PartitionedTopKExec" => "window functions",
        "RecursiveQueryExec" | "WorkTableExec" => "WITH RECURSIVE",
        "UnionExec" | "InterleaveExec" => "UNION",
        "async_func" => "correlated subqueries that run row by row",
        "UnnestExec" => "set-returning functions",
        _ if plan.children().is_empty() => "rows that come from no table",
        name => name,
    }
}

fn missing(what: &str, operator: &str) -> Error {
    let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    Error::unsupported(format!("the simulator has no operator for {what}"))
        .with_detail(format!("The plan has {operator}; there are {}.", known.join(", ")))
}
