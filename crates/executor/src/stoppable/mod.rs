//! Plans whose operators notice that their statement has to end.
//!
//! The query engine's operators notice it when they yield, and some do not yield for as long as they produce no row: a
//! nested loop join whose predicate is never true compares all pairs within one call. [`stoppable`] puts a check around
//! the operators that begin a pipeline or multiply rows, and into the predicates of joins. All work on rows is done between
//! two of these checks, on a batch.

mod operator;
mod predicate;
mod wide;

use crate::short_circuit;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, PiecewiseMergeJoinExec, SortMergeJoinExec,
};
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use operator::Stoppable;
use std::sync::Arc;

/// The same plan, whose operators check between batches whether their statement has to end. It looks the same: the checks
/// are not shown by EXPLAIN, and types of operators are found as before. An operator that `is_shared` with other plans, or
/// has begun to run, stays as it is with all below it.
///
/// # Errors
/// Errors of the engine.
pub fn stoppable(
    plan: Arc<dyn ExecutionPlan>,
    is_shared: &dyn Fn(&Arc<dyn ExecutionPlan>) -> bool,
) -> Result<Arc<dyn ExecutionPlan>> {
    if is_shared(&plan) {
        return Ok(plan);
    }
    let with_checks = |input| stoppable(input, is_shared).map(Transformed::yes);
    let plan = plan.map_children(with_checks)?.data;
    Ok(if is_join(&plan) {
        checked(with_checked_inputs(plan)?)
    } else if let Some(window) = plan.downcast_ref::<WindowAggExec>() {
        let input: Arc<dyn ExecutionPlan> =
            Arc::new(Stoppable::kept_input(Arc::clone(window.input())));
        checked(replace_children_if_necessary(plan, vec![input])?)
    } else if needs_checks(&plan) {
        checked(plan)
    } else {
        plan
    })
}

fn checked(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    Arc::new(Stoppable::new(plan))
}

/// A join that refuses inputs with very wide rows.
fn with_checked_inputs(join: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let inputs = join.children().into_iter().cloned();
    let inputs = inputs.map(|input| -> Arc<dyn ExecutionPlan> {
        match wide::copied_columns(&input.schema()) {
            copied if copied.is_empty() => input,
            copied => Arc::new(Stoppable::join_input(input, copied)),
        }
    });
    let inputs = inputs.collect();
    replace_children_if_necessary(join, inputs)
}

fn is_join(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.is::<NestedLoopJoinExec>()
        || plan.is::<HashJoinExec>()
        || plan.is::<CrossJoinExec>()
        || plan.is::<SortMergeJoinExec>()
        || plan.is::<PiecewiseMergeJoinExec>()
}

/// The rule of the physical optimizer that makes plans [`stoppable`].
#[derive(Debug)]
pub struct Checks;

impl PhysicalOptimizerRule for Checks {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        stoppable(plan, &|_| false)
    }

    fn name(&self) -> &str {
        "checks"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether an operator that is no join begins a pipeline, may have many more rows than its inputs, has expressions whose
/// operands are not evaluated for all rows, or subqueries whose errors may come late.
fn needs_checks(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.children().is_empty()
        || plan.is::<UnnestExec>()
        || plan.is::<RecursiveQueryExec>()
        || plan.is::<ScalarSubqueryExec>()
        || plan.is::<WindowAggExec>()
        || plan.is::<BoundedWindowAggExec>()
        || short_circuit::is_needed_in(plan)
}
