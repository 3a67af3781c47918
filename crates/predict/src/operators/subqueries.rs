//! Correlated subqueries, which run once for each set of outer values.

use super::{Builder, column};
use crate::flow::Flow;
use crate::subqueries::{Subquery, calls};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use dbsim::plan::Kind;
use scan::estimate::Column;
use std::mem;
use std::sync::Arc;
use values::Result;

impl Builder<'_> {
    /// Asynchronous functions. Those that are not subqueries cost nothing.
    pub(super) fn waiting(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        let mut flow = self.flow(plan.children()[0])?;
        for call in calls(plan)? {
            let made = Column::of_type(&call.data_type(&plan.children()[0].schema())?);
            if let Some(subquery) = Subquery::of(self.known.subqueries, &call) {
                flow = self.by_row(subquery, &call, flow, plan)?;
            }
            flow.columns.push(made);
        }
        Ok(flow)
    }

    /// A subquery that runs once for each set of values of a batch.
    fn by_row(
        &mut self,
        subquery: &Subquery,
        call: &Arc<dyn PhysicalExpr>,
        around: Flow,
        plan: &Arc<dyn ExecutionPlan>,
    ) -> Result<Flow> {
        let schema = plan.children()[0].schema();
        let known = |argument: &Arc<dyn PhysicalExpr>| {
            Ok(column(argument, &argument.return_field(&schema)?, &around))
        };
        let by: Vec<Column> = call.children().into_iter().map(known).collect::<Result<_>>()?;
        let runs = if self.was_run {
            (subquery.runs as f64).max(1.0)
        } else {
            let batches = (around.rows / self.known.batch_rows).ceil().max(1.0);
            (self.distinct("sets of values", &by, &around) * batches)
                .min(around.rows)
                .ceil()
                .max(1.0)
        };
        let answer = self.uncounted_flow(&subquery.plan)?;
        self.uncounted.note(format!(
            "a subquery is planned and run {runs:.0} times, as with {}",
            subquery.values
        ));
        let Flow { operator, rows, columns } = around;
        let flow = self.push(Kind::Subquery, &[operator, answer.operator], rows, columns, None);
        self.operators[flow.operator].times = runs;
        Ok(flow)
    }

    /// The rows of a plan that was not run, also inside one that was.
    fn uncounted_flow(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Result<Flow> {
        let was_run = mem::replace(&mut self.was_run, false);
        if was_run {
            mem::swap(&mut self.guesses, &mut self.uncounted);
        }
        let flow = self.flow(plan);
        if was_run {
            mem::swap(&mut self.guesses, &mut self.uncounted);
        }
        self.was_run = was_run;
        flow
    }
}
