//! The rule of the optimizer that cuts a plan into bundles and puts a boundary above each but the
//! last.
//!
//! An operator that is not in the relation belongs to one that is: an operator that changes rows to
//! the one below, an operator that moves them to the one above, so that a bundle's rows are stored
//! where they are made. Unknown operators (UNION, window functions) are bundles of their own. A
//! recursive query is not cut, because its parts run repeatedly, nor is what computes rows once for
//! several readers, because only one copy of it runs.

use super::Bundling;
use super::in_step::InStep;
use crate::boundary::Stored;
use crate::kinds::{Role, is_cut, role_of};
use bundling::{Kind, Tree, cut};
use datafusion::common::Result;
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use std::sync::Arc;

/// The rule.
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

/// The kinds and the inputs of the operators of a plan, each after its inputs.
#[derive(Default)]
struct Operators(Vec<(Vec<Kind>, Vec<usize>)>);

impl Operators {
    /// Adds the operators of a plan; the positions of the topmost ones.
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

/// The positions of an operator's inputs that are cut, in the order of execution.
fn inputs(plan: &Arc<dyn ExecutionPlan>) -> Vec<usize> {
    let mut places: Vec<usize> = (0..plan.children().len()).collect();
    if !is_cut(plan) {
        places.clear();
    }
    if plan.downcast_ref::<ScalarSubqueryExec>().is_some() {
        // The subqueries follow the main input, which needs their values.
        places.rotate_left(1);
    }
    places
}

/// Puts boundaries into a plan.
struct Boundaries<N> {
    /// For each operator in the order of [`Operators`], the number of the bundle of which it is the
    /// top, except the last.
    numbers: N,
    bytes_max: usize,
}

impl<N: Iterator<Item = Option<usize>>> Boundaries<N> {
    /// The plan with boundaries, and the bundle of which it is the top if that has no boundary yet.
    /// `is_half` is true below the final part of an aggregate that forms one operator with the
    /// partial part.
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
