//! Work whose depth the user chooses, on a stack that grows.
//!
//! Depth is limited where it arises: the grammar and the analyzer for syntax trees, [`relations`](super::relations) for views.

use super::correlated::subquery_of;
use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;
use parser::nesting;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use values::translate::external;

/// The stack that one step of planning may use, in bytes.
const STEP: usize = 16 << 20;

/// A new segment of the stack, in bytes.
const SEGMENT: usize = 64 << 20;

/// How many operators a plan may have on top of each other.
const PLANS_DEEP: usize = 4_000;

/// Runs work that recurses, on a new segment of the stack if the current one is nearly used up.
pub(crate) fn growing<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(STEP, SEGMENT, work)
}

/// A future that is polled on a growing stack, because futures of its kind are nested in it.
pub(crate) struct Growing<F>(pub(crate) Pin<Box<F>>);

impl<F: Future> Future for Growing<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        growing(|| self.0.as_mut().poll(context))
    }
}

/// How many subqueries may be within each other in expressions. DataFusion checks a plan in a time that doubles with each.
const SUBQUERIES_DEEP: usize = 16;

/// Rejects a plan that is deeper than later steps can handle.
///
/// # Errors
/// 54001.
pub fn refuse_deep(plan: LogicalPlan) -> Result<LogicalPlan> {
    refuse_within(&plan, 0)?;
    Ok(plan)
}

/// `subqueries` is the number of subqueries around the plan.
fn refuse_within(plan: &LogicalPlan, subqueries: usize) -> Result<()> {
    if subqueries > SUBQUERIES_DEEP {
        let hint = format!("Subqueries in expressions may nest {SUBQUERIES_DEEP} levels deep.");
        return Err(external(nesting::exceeded(hint)));
    }
    let mut open = vec![(plan, 1)];
    while let Some((node, depth)) = open.pop() {
        if depth > PLANS_DEEP {
            let hint = format!("Queries may have {PLANS_DEEP} operators on top of each other.");
            return Err(external(nesting::exceeded(hint)));
        }
        open.extend(node.inputs().into_iter().map(|input| (input, depth + 1)));
        node.apply_expressions(|expr| {
            expr.apply(|part| {
                if let Some(subquery) = subquery_of(part) {
                    refuse_within(&subquery.subquery, subqueries + 1)?;
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
    }
    Ok(())
}
