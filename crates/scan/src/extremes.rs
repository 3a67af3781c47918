//! The first rows in the order of an index: for ORDER BY with LIMIT, and for `min` and `max`.
//!
//! If the entries of an index are just the rows that a query selects, in its order, then the scan reads the rows of the first
//! entries only. The operators above it stay as they are.

use crate::index_lookup::first::{Ends, Ordered, Wanted};
use crate::index_lookup::unqualified;
use crate::key_ranges::split_conjuncts;
use crate::provider::{BucketTable, Chosen};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, Projection, TableScan};
use datafusion::prelude::SessionConfig;
use functions::extremes::Extreme;
use std::sync::Arc;
use store::TableView;

/// The most rows that are read in the order of an index.
const ROWS_MAX: usize = 1024;

/// The most calls of `min` and `max` of a query.
const CALLS_MAX: usize = 8;

/// The plan, whose scans read only the first rows of an index where that is enough.
///
/// # Errors
/// Those of the store and the engine.
pub async fn chosen(plan: LogicalPlan, config: &SessionConfig) -> Result<LogicalPlan> {
    let mut all = Vec::new();
    plan.apply(|node| {
        all.extend(wanted(node));
        Ok(TreeNodeRecursion::Continue)
    })?;
    if all.is_empty() {
        return Ok(plan);
    }
    let mut rows = Vec::with_capacity(all.len());
    for (view, wanted) in &all {
        rows.push(wanted.look_up(view, config).await?.map(Chosen::Rows));
    }
    let mut rows = rows.into_iter();
    replaced(plan, |_| rows.next().flatten())
}

/// The plan, whose scans look for the first rows of an index each time that it is executed.
///
/// # Errors
/// Errors of the engine.
pub fn looked_up_again(plan: LogicalPlan) -> Result<LogicalPlan> {
    replaced(plan, |wanted| Some(Chosen::First(Arc::new(wanted))))
}

/// The plan with the choices of scans, in the order of the plan.
fn replaced(
    plan: LogicalPlan,
    mut choose: impl FnMut(Wanted) -> Option<Chosen>,
) -> Result<LogicalPlan> {
    let replaced = plan.transform_down(|node| match wanted(&node) {
        Some((_, wanted)) => match choose(wanted) {
            Some(choice) => node.transform_down(|below| with_choice(below, &choice)),
            None => Ok(Transformed::no(node)),
        },
        None => Ok(Transformed::no(node)),
    })?;
    Ok(replaced.data)
}

/// A scan of only some rows.
fn with_choice(node: LogicalPlan, choice: &Chosen) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::TableScan(scan) = &node else { return Ok(Transformed::no(node)) };
    let provider = source_as_provider(&scan.source)?;
    let Some(table) = provider.downcast_ref::<BucketTable>() else {
        return Ok(Transformed::no(node));
    };
    let source = provider_as_source(Arc::new(table.with_chosen(choice.clone())));
    Ok(Transformed::yes(LogicalPlan::TableScan(TableScan { source, ..scan.clone() })))
}

/// The rows of a table that a plan wants.
fn wanted(node: &LogicalPlan) -> Option<(TableView, Wanted)> {
    match node {
        LogicalPlan::Sort(sort) => {
            let rows = sort.fetch.filter(|rows| (1..=ROWS_MAX).contains(rows))?;
            let exprs = sort.expr.iter().map(|key| key.expr.clone()).collect();
            let (view, conditions, exprs) = below(&sort.input, exprs)?;
            let order = exprs.into_iter().zip(&sort.expr).map(|(expr, key)| Ordered {
                expr,
                descends: !key.asc,
                nulls_first: key.nulls_first,
            });
            let ends = vec![Ends { order: order.collect(), rows, skips_nulls: false }];
            Some((view, Wanted { conditions, ends })).filter(|(view, wanted)| wanted.has_gain(view))
        }
        LogicalPlan::Aggregate(aggregate) => {
            of_calls(aggregate).filter(|(view, wanted)| wanted.has_gain(view))
        }
        _ => None,
    }
}

/// The rows with the values of `min` and `max`.
fn of_calls(aggregate: &Aggregate) -> Option<(TableView, Wanted)> {
    let calls = &aggregate.aggr_expr;
    if !aggregate.group_expr.is_empty() || calls.is_empty() || calls.len() > CALLS_MAX {
        return None;
    }
    let (mut values, mut descend) = (Vec::new(), Vec::new());
    for call in calls {
        let call = match call {
            Expr::Alias(alias) => &*alias.expr,
            call => call,
        };
        let Expr::AggregateFunction(call) = call else { return None };
        // A second argument is the key of the value.
        let value = call.params.args.first()?;
        descend.push(match call.func.name() {
            "min" => false,
            "max" => true,
            name => Extreme::named(name)?.is_greatest,
        });
        if call.params.filter.is_some() || !call.params.order_by.is_empty() {
            return None;
        }
        values.push(value.clone());
    }
    let (view, conditions, values) = below(&aggregate.input, values)?;
    let ends = values.into_iter().zip(descend).map(|(expr, descends)| Ends {
        order: vec![Ordered { expr, descends, nulls_first: descends }],
        rows: 1,
        skips_nulls: true,
    });
    Some((view, Wanted { conditions, ends: ends.collect() }))
}

/// The table below projections and filters, the conditions of its rows, and expressions of a plan over its columns.
fn below(plan: &LogicalPlan, mut exprs: Vec<Expr>) -> Option<(TableView, Vec<Expr>, Vec<Expr>)> {
    let (mut plan, mut conditions) = (plan, Vec::new());
    loop {
        match plan {
            LogicalPlan::Projection(projection) => {
                if !conditions.is_empty() {
                    return None;
                }
                exprs = exprs
                    .into_iter()
                    .map(|expr| below_projection(expr, projection))
                    .collect::<Option<_>>()?;
                plan = &projection.input;
            }
            LogicalPlan::SubqueryAlias(alias) => plan = &alias.input,
            LogicalPlan::Filter(filter) => {
                conditions.push(filter.predicate.clone());
                plan = &filter.input;
            }
            LogicalPlan::TableScan(scan) => {
                let provider = source_as_provider(&scan.source).ok()?;
                let view = provider.downcast_ref::<BucketTable>()?.view()?.clone();
                let filters = conditions.iter().chain(&scan.filters);
                let filters: Vec<Expr> =
                    filters.map(|filter| unqualified(filter.clone())).collect();
                let mut conjuncts = Vec::new();
                filters.iter().for_each(|filter| split_conjuncts(filter, &mut conjuncts));
                let mut conditions: Vec<Expr> = Vec::with_capacity(conjuncts.len());
                for conjunct in conjuncts {
                    if !conditions.contains(conjunct) {
                        conditions.push(conjunct.clone());
                    }
                }
                let exprs = exprs.into_iter().map(unqualified).collect();
                let is_limited = scan.fetch.is_some();
                return (!is_limited).then_some((view, conditions, exprs));
            }
            _ => return None,
        }
    }
}

/// An expression over the columns of a projection as one over its input; `None` if it is more than a column.
fn below_projection(expr: Expr, projection: &Projection) -> Option<Expr> {
    let Expr::Column(column) = &expr else { return None };
    let at = projection.schema.maybe_index_of_column(column)?;
    Some(projection.expr.get(at)?.clone().unalias())
}
