//! Functions in FROM.

use crate::names;
use crate::refusal::Result;
use crate::scope::Lowering;
use crate::sets::{Expanded, SetColumn, with_volatile};
use analyzer::system::Oid;
use analyzer::tree::{Relation, SetCall};
use datafusion::common::{NullHandling, TableReference};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

impl Lowering<'_> {
    /// The rows of functions that refer to no columns before them.
    pub(super) fn functions(
        &mut self,
        calls: &[SetCall],
        ordinality: bool,
        relation: &Relation,
        alias: &str,
    ) -> Result<LogicalPlan> {
        if let ([call], false) = (calls, ordinality)
            && let Some(plan) = self.series(call, relation, alias)?
        {
            return Ok(plan);
        }
        let one_row = LogicalPlanBuilder::empty(true).build()?;
        let (plan, columns) = self.columns_of(one_row, calls, ordinality)?;
        let Expanded { plan, values } = self.expanded(plan, columns, NullHandling::Drop)?;
        let names = names::unique(relation.columns.iter().map(|column| &*column.name));
        let named = values.into_iter().zip(names).map(|(value, name)| value.expr.alias(name));
        let named: Vec<Expr> = named.collect();
        let plan = LogicalPlanBuilder::from(plan).project(named)?;
        Ok(plan.alias(TableReference::bare(alias))?.build()?)
    }

    /// The columns of functions side by side, over a plan that computes what volatile ones return if it is numbered, too.
    pub(super) fn columns_of(
        &mut self,
        mut plan: LogicalPlan,
        calls: &[SetCall],
        ordinality: bool,
    ) -> Result<(LogicalPlan, Vec<SetColumn>)> {
        let mut columns = Vec::new();
        for call in calls {
            columns.extend(self.set_columns(call)?);
        }
        if ordinality {
            plan = with_volatile(plan, &mut columns)?;
            let of = if calls.len() == 1 { &columns[..columns.len().min(1)] } else { &columns };
            let numbers = self.ordinality(of, Oid::INT8.into())?;
            columns.push(numbers);
        }
        Ok((plan, columns))
    }
}
