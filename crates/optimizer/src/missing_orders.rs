//! Sorts what does not have the order that an operator needs.
//!
//! `SELECT r, NULL FROM a UNION ALL SELECT r, r FROM b ORDER BY 1, 2`: the second key is constant for the rows of one side,
//! so that the engine sorts these by the first key alone. If the key is an expression over the constant, the union does not
//! know that its rows are in order, and the engine refuses its own plan.
//!
//! `WHERE GREATEST(a, b) = a`: for the engine both sides are the same, and it looks for the order of `a` in the order of the
//! left side, of which it knows nothing. A [`Varying`] hides the condition from it.

use crate::varying::Varying;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties, ReplaceChildrenOptions,
};
use std::sync::Arc;

/// The rule of the physical optimizer. It runs last, before the engine checks the plan.
#[derive(Debug)]
pub struct MissingOrders;

impl PhysicalOptimizerRule for MissingOrders {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(with_orders).data()
    }

    fn name(&self) -> &str {
        "missing_orders"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// An operator over inputs in the orders that it needs.
fn with_orders(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let mut has_changed = false;
    let mut inputs = Vec::new();
    for (input, needed) in node.children().into_iter().zip(node.required_input_ordering()) {
        let mut input = Arc::clone(input);
        if let Some(needed) = needed {
            let needed = needed.into_single();
            let is_known = |input: &Arc<dyn ExecutionPlan>| {
                input.equivalence_properties().ordering_satisfy_requirement(needed.clone())
            };
            if !is_known(&input)? {
                (has_changed, input) = (true, sorted(input, LexOrdering::from(needed.clone())));
                if !is_known(&input)? {
                    let order = LexOrdering::from(needed.clone());
                    input = Arc::new(Varying::sorted(input, order));
                }
            }
        }
        inputs.push(input);
    }
    match has_changed {
        true => {
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            node.replace_children(inputs, options).map(Transformed::yes)
        }
        false => Ok(Transformed::no(node)),
    }
}

/// The rows of an input in an order.
fn sorted(input: Arc<dyn ExecutionPlan>, order: LexOrdering) -> Arc<dyn ExecutionPlan> {
    let is_done = |sort: &SortExec| *sort.expr() == order && sort.fetch().is_none();
    if input.downcast_ref::<SortExec>().is_some_and(is_done) {
        return input;
    }
    let partitions = input.output_partitioning().partition_count();
    Arc::new(SortExec::new(order, input).with_preserve_partitioning(partitions > 1))
}
