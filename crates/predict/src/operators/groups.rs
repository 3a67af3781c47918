//! Aggregates with and without groups.

use super::{Builder, at_least_one, column};
use crate::flow::Flow;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};
use dbsim::plan::Kind;
use distributed::kinds;
use scan::estimate::Column;
use values::Result;

impl Builder<'_> {
    pub(super) fn aggregate(&mut self, aggregate: &AggregateExec) -> Result<Flow> {
        let input = self.flow(aggregate.input())?;
        let by = aggregate.group_expr();
        let schema = aggregate.schema();
        let groups = by.expr().iter().zip(schema.fields());
        let mut columns: Vec<Column> =
            groups.map(|((expr, _), field)| column(expr, field, &input)).collect();
        // With grouping sets, the number of the group's set follows its keys.
        let values = &schema.fields()[columns.len()..];
        columns.extend(values.iter().map(|field| Column::of_type(field.data_type())));
        if kinds::is_of_parts(aggregate) {
            // Partial results have a row for a group in each partition.
            let rows = self.counted(aggregate, input.rows);
            self.operators[input.operator].rows = rows;
            return Ok(Flow { columns, rows, ..input });
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
            let supposed = self.groups(&columns[..by.expr().len()], by.groups(), &input);
            let times = by.groups().len() as f64;
            rows = self.counted(aggregate, supposed).min(times * input.rows.max(1.0));
            child = self
                .push(Kind::GroupBy, &[child], times * input.rows, input.columns, None)
                .operator;
            self.operators[child].times = times;
            self.computes(child, keys);
        }
        let flow = self.push(Kind::Aggregate, &[child], rows, columns, None);
        self.operators[flow.operator].functions = functions;
        self.computes(flow.operator, computed);
        Ok(flow)
    }

    /// The number of groups: for each grouping set, the product of its columns' distinct values, at
    /// most the rows.
    fn groups(&mut self, by: &[Column], sets: &[Vec<bool>], input: &Flow) -> f64 {
        let of_set = |is_left_out: &Vec<bool>| {
            let columns = by.iter().zip(is_left_out).filter(|(_, is_left_out)| !**is_left_out);
            values_together(columns.map(|(column, _)| column), input.rows)
        };
        let rows: f64 = sets.iter().map(of_set).sum();
        let of_sets =
            if sets.len() > 1 { format!(" by {} sets", sets.len()) } else { String::new() };
        self.note_values(&format!("{rows:.0} groups of {:.0} rows{of_sets}", input.rows), by);
        rows
    }

    /// The number of distinct combinations of columns; `parts_are` is what they are called in the
    /// assumption.
    pub(super) fn distinct(&mut self, parts_are: &str, by: &[Column], input: &Flow) -> f64 {
        let parts = values_together(by, input.rows);
        self.note_values(&format!("{parts:.0} {parts_are} of {:.0} rows", input.rows), by);
        parts
    }

    /// Notes the assumption about the values of columns.
    fn note_values(&mut self, supposed: &str, by: &[Column]) {
        let why = if by.iter().all(|column| column.distinct.is_some()) {
            "by the values that their columns can have"
        } else {
            "200 values of each column of which nothing is known, as PostgreSQL supposes"
        };
        self.guesses.note(format!("{supposed} ({why})"));
    }
}

/// The number of distinct combinations of columns in `rows` rows.
fn values_together<'a>(by: impl IntoIterator<Item = &'a Column>, rows: f64) -> f64 {
    let values: f64 = by.into_iter().map(|column| column.distinct_of(rows)).product();
    at_least_one(values.min(rows), rows)
}
