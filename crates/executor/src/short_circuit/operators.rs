//! Operators whose expressions have short circuits, and the errors of the first row.

use super::{is_needed, short_circuit};
use crate::fallible::physical_may_fail;
use crate::first_error::OfFirstRow;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode, PhysicalGroupBy};
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use std::sync::Arc;

/// Whether [`with_short_circuits`] changes an operator.
pub(crate) fn is_needed_in(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let is_known = plan.is::<FilterExec>() || plan.is::<ProjectionExec>() || is_first(plan);
    let mut found = false;
    if is_known {
        let read = plan.apply_expressions(&mut |expression| {
            let fails = || !is_first(plan) && physical_may_fail(expression);
            found = found || is_needed(expression) || fails();
            Ok(TreeNodeRecursion::Continue)
        });
        found = found || read.is_err();
    }
    found
}

/// Whether an operator is an aggregate that reads rows, not states.
fn is_first(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let aggregate = plan.downcast_ref::<AggregateExec>();
    aggregate.is_some_and(|aggregate| aggregate.mode().input_mode() == AggregateInputMode::Raw)
}

/// The same operator, whose AND and OR evaluate operands that may fail only for the rows that need them.
pub(crate) fn with_short_circuits(plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        let predicate = short_circuit(Arc::clone(filter.predicate()))?;
        let predicate = of_first_row(vec![predicate]).swap_remove(0);
        let filter = FilterExecBuilder::from(filter).with_predicate(predicate).build()?;
        return Ok(Arc::new(filter));
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let exprs = projection.expr().iter();
        let exprs = exprs.map(|named| short_circuit(Arc::clone(&named.expr)));
        let exprs = of_first_row(exprs.collect::<Result<_>>()?).into_iter();
        let exprs = exprs.zip(projection.expr()).map(|(expr, named)| {
            let alias = named.alias.clone();
            ProjectionExpr { expr, alias }
        });
        let exprs: Vec<_> = exprs.collect();
        let projection = ProjectionExec::try_new(exprs, Arc::clone(projection.input()))?;
        return Ok(Arc::new(projection));
    }
    match plan.downcast_ref::<AggregateExec>() {
        Some(aggregate) if is_first(plan) => Ok(Arc::new(with_new_arguments(aggregate)?)),
        _ => Ok(Arc::clone(plan)),
    }
}

/// Expressions that are evaluated for each row, with the errors of the first row in error. Volatile ones are evaluated once.
fn of_first_row(expressions: Vec<Arc<dyn PhysicalExpr>>) -> Vec<Arc<dyn PhysicalExpr>> {
    if expressions.iter().any(is_volatile) {
        return expressions;
    }
    let fallible = expressions.iter().filter(|expression| physical_may_fail(expression));
    let fallible: Arc<[_]> = fallible.cloned().collect();
    let checked = |expression| match physical_may_fail(&expression) {
        true => OfFirstRow::among(expression, &fallible),
        false => expression,
    };
    expressions.into_iter().map(checked).collect()
}

fn with_new_arguments(aggregate: &AggregateExec) -> Result<AggregateExec> {
    let all = |exprs: Vec<Arc<dyn PhysicalExpr>>| {
        exprs.into_iter().map(short_circuit).collect::<Result<Vec<_>>>()
    };
    let calls = aggregate.aggr_expr().iter().map(|call| {
        let parts = call.all_expressions();
        let call = Arc::clone(call);
        let changed = call.with_new_expressions(all(parts.args)?, all(parts.order_by_exprs)?);
        Ok(changed.map_or(call, Arc::new))
    });
    let calls = calls.collect::<Result<Vec<Arc<AggregateFunctionExpr>>>>()?;
    let filters = aggregate.filter_expr().iter();
    let filters = filters.map(|filter| filter.clone().map(short_circuit).transpose());
    let by = aggregate.group_expr();
    let keys =
        by.expr().iter().map(|(key, name)| Ok((short_circuit(Arc::clone(key))?, name.clone())));
    let by = PhysicalGroupBy::new(
        keys.collect::<Result<_>>()?,
        by.null_expr().to_vec(),
        by.groups().to_vec(),
        by.has_grouping_set(),
    );
    let changed = AggregateExec::try_new(
        *aggregate.mode(),
        by,
        calls,
        filters.collect::<Result<_>>()?,
        Arc::clone(aggregate.input()),
        aggregate.input_schema(),
    )?;
    Ok(changed.with_limit_options(aggregate.limit_options()))
}
