//! Columns that the engine may compute when it optimizes a plan.

use crate::refusal::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The nesting of queries that is looked through. Columns below may be computed or not.
const DEPTH_MAX: usize = 12;

/// Whether a column of a plan depends on no table of the plan: the engine may compute it, and then takes it for one that is
/// never NULL, also where it has no rows. An outer column has a value when the plan of a row is made.
pub(super) fn may_fold(plan: &LogicalPlan, at: usize) -> Result<bool> {
    folds_at(plan, at, DEPTH_MAX)
}

fn folds_at(plan: &LogicalPlan, at: usize, depth: usize) -> Result<bool> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(true) };
    let input = match plan {
        LogicalPlan::Projection(projection) => {
            return match projection.expr.get(at) {
                Some(value) => folds(value, &projection.input, depth),
                None => Ok(false),
            };
        }
        LogicalPlan::Aggregate(aggregate) => {
            return match aggregate.group_expr.get(at) {
                Some(Expr::GroupingSet(_)) | None => Ok(false),
                Some(value) => folds(value, &aggregate.input, depth),
            };
        }
        LogicalPlan::Join(join) => {
            let left = join.left.schema().fields().len();
            return match at.checked_sub(left) {
                None => folds_at(&join.left, at, depth),
                Some(at) => folds_at(&join.right, at, depth),
            };
        }
        LogicalPlan::Limit(limit) => &limit.input,
        LogicalPlan::Sort(sort) => &sort.input,
        LogicalPlan::Filter(filter) => &filter.input,
        LogicalPlan::SubqueryAlias(alias) => &alias.input,
        LogicalPlan::Distinct(distinct) => distinct.input(),
        LogicalPlan::Window(window) => &window.input,
        _ => return Ok(false),
    };
    match at < input.schema().fields().len() {
        true => folds_at(input, at, depth),
        false => Ok(false),
    }
}

/// Whether all columns of a value may be computed.
fn folds(value: &Expr, input: &LogicalPlan, depth: usize) -> Result<bool> {
    let is_open = |part: &Expr| {
        Ok(match part {
            Expr::Column(column) => match input.schema().maybe_index_of_column(column) {
                Some(at) => !folds_at(input, at, depth).unwrap_or(true),
                None => true,
            },
            _ => false,
        })
    };
    Ok(!value.exists(is_open)?)
}
