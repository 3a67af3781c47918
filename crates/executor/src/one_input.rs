//! Methods that operators with one input and without expressions have in common.

/// Implements methods of [`ExecutionPlan`](datafusion::physical_plan::ExecutionPlan) for an operator that has one input and
/// no expressions: its name, the field of its input, and the same operator over another input.
///
/// ```ignore
/// one_input!("Sampled", input, |sampled, input| Ok(Arc::new(Sampled::new(input, sampled.share))));
/// ```
#[macro_export]
macro_rules! one_input {
    ($name:literal, $field:ident, |$operator:ident, $input:ident| $over:expr) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn children(&self) -> Vec<&std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>> {
            vec![&self.$field]
        }

        fn apply_expressions(
            &self,
            _: &mut dyn FnMut(
                &std::sync::Arc<dyn datafusion::physical_expr::PhysicalExpr>,
            ) -> datafusion::common::Result<
                datafusion::common::tree_node::TreeNodeRecursion,
            >,
        ) -> datafusion::common::Result<datafusion::common::tree_node::TreeNodeRecursion> {
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        }

        fn with_new_children(
            self: std::sync::Arc<Self>,
            children: Vec<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>,
        ) -> datafusion::common::Result<std::sync::Arc<dyn datafusion::physical_plan::ExecutionPlan>>
        {
            let $operator = &*self;
            match <[_; 1]>::try_from(children) {
                Ok([$input]) => $over,
                Err(_) => datafusion::common::internal_err!("{} has one input", $name),
            }
        }
    };
}
