//! An operator that hides what is known of columns with one value, or with the same values as others.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalExpr};
use datafusion::physical_plan::{
    ChildrenPropertiesMode, DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
    ReplaceChildrenOptions,
};
use std::fmt;
use std::sync::Arc;

/// The rows of its input, without what is known of their values.
#[derive(Debug)]
pub(crate) struct Varying {
    input: Arc<dyn ExecutionPlan>,
    /// The order of the rows; `None` if it is the input's.
    order: Option<LexOrdering>,
    properties: Arc<PlanProperties>,
}

impl Varying {
    /// The rows of an input in its orders.
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        Self::with_order(input, None)
    }

    /// The rows of an input that is sorted.
    pub(crate) fn sorted(input: Arc<dyn ExecutionPlan>, order: LexOrdering) -> Self {
        Self::with_order(input, Some(order))
    }

    fn with_order(input: Arc<dyn ExecutionPlan>, order: Option<LexOrdering>) -> Self {
        let known = &input.properties().eq_properties;
        let schema = Arc::clone(known.schema());
        let known = match &order {
            Some(order) => EquivalenceProperties::new_with_orderings(schema, [order.clone()]),
            None => {
                let orders = known.oeq_class().iter().cloned();
                EquivalenceProperties::new_with_orderings(schema, orders)
            }
        };
        let properties = PlanProperties::clone(input.properties()).with_eq_properties(known);
        Self { input, order, properties: Arc::new(properties) }
    }
}

impl DisplayAs for Varying {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VaryingExec")
    }
}

impl ExecutionPlan for Varying {
    fn name(&self) -> &str {
        "VaryingExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.is_empty()) {
            (Some(input), true) => Ok(Arc::new(Self::with_order(input, self.order.clone()))),
            _ => internal_err!("an operator has one input"),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
