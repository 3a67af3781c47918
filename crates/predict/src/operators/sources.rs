//! Unions, recursion, and rows of no table.

use super::{Builder, at_least_one};
use crate::flow::Flow;
use crate::tables::statistics;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::LazyMemoryExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::work_table::WorkTableExec;
use dbsim::plan::Kind;
use functions::arrays::generated;
use scan::estimate::Column;
use std::sync::Arc;
use values::Result;

/// Iterations of a recursion, as PostgreSQL assumes.
const ROUNDS: f64 = 10.0;
/// Rows of a function, as PostgreSQL assumes.
const MADE: f64 = 1000.0;
/// Elements of an array or the like, as PostgreSQL assumes.
const MADE_OF_ROW: f64 = 10.0;

impl Builder<'_> {
    /// UNION ALL.
    pub(super) fn union(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        let inputs = plan.children().into_iter().map(|input| self.flow(input));
        let inputs: Vec<Flow> = inputs.collect::<Result<_>>()?;
        let schema = plan.schema();
        let of = |index: usize| {
            let parts = inputs.iter().map(|input| (input.rows, input.columns[index]));
            Column::of_all(schema.field(index).data_type(), parts)
        };
        let columns = (0..schema.fields().len()).map(of).collect();
        let operators: Vec<_> = inputs.iter().map(|input| input.operator).collect();
        let rows = inputs.iter().map(|input| input.rows).sum();
        Ok(self.push(Kind::Union, &operators, rows, columns, None))
    }

    /// WITH RECURSIVE: each iteration reads the rows of the one before.
    pub(super) fn recursion(&mut self, plan: &RecursiveQueryExec) -> Result<Flow> {
        let first = self.flow(plan.static_term())?;
        let counted = self.counted(plan, first.rows);
        let a_round = if counted > first.rows {
            at_least_one((counted - first.rows) / ROUNDS, counted)
        } else {
            first.rows
        };
        self.rounds.push(Flow { rows: a_round, ..first.clone() });
        let again = self.flow(plan.recursive_term());
        self.rounds.pop();
        let again = again?;
        self.uncounted.note(format!(
            "a recursion takes {ROUNDS} rounds, as PostgreSQL supposes, and each takes up {a_round:.0} rows and makes {:.0}",
            again.rows
        ));
        let rows = self.counted(plan, first.rows + ROUNDS * again.rows);
        let inputs = [first.operator, again.operator];
        let flow = self.push(Kind::Recursion, &inputs, rows, first.columns, None);
        self.operators[flow.operator].times = ROUNDS;
        Ok(flow)
    }

    /// UNNEST: a join of each row with the values made of it.
    pub(super) fn unnest(&mut self, unnest: &UnnestExec) -> Result<Flow> {
        let input = self.flow(unnest.input())?;
        let rows = self.counted(unnest, MADE_OF_ROW * input.rows);
        let each = (rows / input.rows.max(1.0)).max(1.0);
        self.guesses
            .note(format!("{each:.0} rows for each of {:.0} (as PostgreSQL supposes)", input.rows));
        let schema = unnest.schema();
        let columns: Vec<Column> =
            schema.fields().iter().map(|field| Column::of_type(field.data_type())).collect();
        let made = self.push(Kind::Values, &[], each, Vec::new(), None).operator;
        Ok(self.push(Kind::NestedLoopJoin, &[input.operator, made], rows, columns, None))
    }

    /// Rows of no table: the input of an iteration, VALUES, a series, a system table.
    pub(super) fn values(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        let round = self.rounds.last().filter(|_| plan.downcast_ref::<WorkTableExec>().is_some());
        if let Some(Flow { rows, columns, .. }) = round.cloned() {
            return Ok(self.push(Kind::Values, &[], rows, columns, None));
        }
        let stated = match plan.downcast_ref::<LazyMemoryExec>() {
            Some(source) => generated::rows_of(source),
            None => statistics(plan)?.num_rows.get_value().map(|rows| *rows as f64),
        };
        let rows = self.counted(&**plan, stated.unwrap_or(MADE));
        let why = if stated.is_some() { "" } else { " (as PostgreSQL supposes of a function)" };
        self.guesses.note(format!("{rows:.0} rows of no table{why}"));
        let schema = plan.schema();
        let columns = schema.fields().iter().map(|field| Column::of_type(field.data_type()));
        let columns = columns.collect();
        Ok(self.push(Kind::Values, &[], rows, columns, None))
    }
}
