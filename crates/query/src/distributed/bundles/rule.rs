//! The rule of the optimizer that cuts a plan into bundles, and puts a boundary above each but the last.
//!
//! What the relation has no name for belongs to an operator that it has: what changes rows to the one below, what
//! brings them elsewhere to the one above, so that a bundle's rows are stored where they were made. Operators of which it knows
//! nothing (UNION, window functions) are bundles of their own. A recursive query is not cut: what runs again and
//! again is no bundle.

use super::Bundling;
use super::in_step::InStep;
use super::stored::Stored;
use crate::distributed::kinds::{Role, role_of};
use datafusion::common::Result;
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use dbsim::plan::Kind;
use dbsim::plan::bundle::{Tree, cut};
use std::sync::Arc;

/// Cuts plans.
#[derive(Debug)]
pub(super) struct CutBundles(pub(super) Bundling);

impl PhysicalOptimizerRule for CutBundles {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Bundling { scheme, bytes_max } = self.0;
        let mut operators = Operators::default();
        operators.add(&plan);
        let mut numbers = vec![None; operators.0.len()];
        for (bundle, number) in cut(&operators, scheme).iter().zip(1..) {
            let top = bundle.0[0];
            numbers[top] = (top != operators.root()).then_some(number);
        }
        if numbers.iter().all(Option::is_none) {
            return Ok(plan);
        }
        let (plan, _) = Boundaries { numbers: numbers.into_iter(), bytes_max }.put(plan, false)?;
        Ok(Arc::new(InStep::new(plan)))
    }

    fn name(&self) -> &'static str {
        "cut_bundles"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The operators of a plan that the cutting is about, each behind those below it.
#[derive(Default)]
struct Operators(Vec<(Vec<Kind>, Vec<usize>)>);

impl Operators {
    /// Adds those of a plan; the topmost of them.
    fn add(&mut self, plan: &Arc<dyn ExecutionPlan>) -> Vec<usize> {
        let inputs = inputs(plan).into_iter().map(|at| plan.children()[at]);
        let below = inputs.flat_map(|input| self.add(input)).collect();
        match role_of(plan) {
            Role::Operator(kinds) => {
                self.0.push((kinds, below));
                vec![self.0.len() - 1]
            }
            Role::Changes | Role::Finishes | Role::Moves => below,
        }
    }
}

impl Tree for Operators {
    type Node = usize;

    fn root(&self) -> usize {
        self.0.len() - 1
    }

    fn kinds(&self, node: usize) -> Vec<Kind> {
        self.0[node].0.clone()
    }

    fn children(&self, node: usize) -> Vec<usize> {
        self.0[node].1.clone()
    }
}

/// The places of an operator's inputs that are cut, in the order in which they run.
fn inputs(plan: &Arc<dyn ExecutionPlan>) -> Vec<usize> {
    let mut places: Vec<usize> = (0..plan.children().len()).collect();
    if plan.downcast_ref::<RecursiveQueryExec>().is_some() {
        places.clear();
    }
    if plan.downcast_ref::<ScalarSubqueryExec>().is_some() {
        // Behind its main input are the subqueries, whose values that needs.
        places.rotate_left(1);
    }
    places
}

/// Puts boundaries into a plan.
struct Boundaries<N> {
    /// Of each operator in the order of [`Operators`]: the bundle that it is the top of, if that is not the last.
    numbers: N,
    bytes_max: usize,
}

impl<N: Iterator<Item = Option<usize>>> Boundaries<N> {
    /// A plan with boundaries, and the bundle that it is the top of, where that has no boundary yet. `is_half` says
    /// whether it is below the second half of an aggregate, which is one with the first.
    fn put(
        &mut self,
        plan: Arc<dyn ExecutionPlan>,
        is_half: bool,
    ) -> Result<(Arc<dyn ExecutionPlan>, Option<usize>)> {
        let role = role_of(&plan);
        let parts = match role {
            Role::Operator(_) => true,
            Role::Moves => !is_half,
            Role::Changes | Role::Finishes => false,
        };
        let is_half = match role {
            Role::Operator(_) => false,
            Role::Finishes => true,
            Role::Changes | Role::Moves => is_half,
        };
        let mut children: Vec<_> = plan.children().into_iter().cloned().collect();
        let mut open = None;
        for input in inputs(&plan) {
            let (child, number) = self.put(Arc::clone(&children[input]), is_half)?;
            children[input] = match number {
                Some(number) if parts => Arc::new(Stored::here(child, number, self.bytes_max)),
                _ => child,
            };
            open = number.filter(|_| !parts);
        }
        if matches!(role, Role::Operator(_)) {
            open = self.numbers.next().flatten();
        }
        Ok((replace_children_if_necessary(plan, children)?, open))
    }
}
