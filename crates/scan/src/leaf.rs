//! Methods that all leaves of a plan have in common.

/// Implements methods of [`ExecutionPlan`](datafusion::physical_plan::ExecutionPlan) for an
/// operator without inputs whose properties are in its field `properties`.
#[macro_export]
macro_rules! leaf {
    ($name:literal) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn properties(&self) -> &std::sync::Arc<datafusion::physical_plan::PlanProperties> {
            &self.properties
        }

        fn children(&self) -> Vec<&std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            Vec::new()
        }

        fn with_new_children(
            self: std::sync::Arc<Self>,
            _: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        ) -> datafusion::common::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>
        {
            Ok(self)
        }
    };
}
