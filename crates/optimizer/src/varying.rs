//! An operator that hides what is known of columns with one value, or with the same values as others.

use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use executor::one_input;
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
    one_input!("VaryingExec", input, |varying, input| {
        Ok(Arc::new(Self::with_order(input, varying.order.clone())))
    });

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
