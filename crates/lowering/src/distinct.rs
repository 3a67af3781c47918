//! Distinct rows, where equal values may differ.

use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::SqlType;
use datafusion::common::Column;
use datafusion::logical_expr::expr::{AggregateFunction, Sort};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

impl Lowering<'_> {
    /// One row of those that are equal. Columns whose equal values may differ are grouped by their keys.
    pub(crate) fn distinct_rows(
        &self,
        plan: LogicalPlan,
        types: &[SqlType],
    ) -> Result<LogicalPlan> {
        let mut all = types.iter().zip(plan.schema().fields());
        if !all.any(|(of, field)| Self::has_equality_key(*of, field.data_type())) {
            return Ok(LogicalPlanBuilder::from(plan).distinct()?.build()?);
        }
        let columns = plan.schema().columns();
        let (mut keys, mut firsts, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for ((column, field), of) in columns.iter().zip(plan.schema().fields()).zip(types) {
            let value = Typed {
                expr: Expr::Column(column.clone()),
                sql_type: *of,
                data_type: field.data_type().clone(),
            };
            if Self::has_equality_key(*of, field.data_type()) {
                let first = self.first_of(value.expr.clone(), Vec::new())?;
                let name = format!("?first{}", firsts.len());
                keys.push(self.equality_key(value)?.expr.alias(format!("?same{}", keys.len())));
                firsts.push(first.alias(&name));
                let first = Expr::Column(Column::new_unqualified(name));
                kept.push(first.alias_qualified(column.relation.clone(), &column.name));
            } else {
                keys.push(value.expr.clone());
                kept.push(value.expr);
            }
        }
        Ok(LogicalPlanBuilder::from(plan).aggregate(keys, firsts)?.project(kept)?.build()?)
    }

    /// The aggregate of a value that is the first of the group's in an order.
    pub(crate) fn first_of(&self, value: Expr, order: Vec<Sort>) -> Result<Expr> {
        let name = "first_value";
        let Some(function) = self.aggregate_named(name) else { return missing(name) };
        let call = AggregateFunction::new_udf(function, vec![value], false, None, order, None);
        Ok(Expr::AggregateFunction(call))
    }
}
