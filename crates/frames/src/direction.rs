//! Window functions that take the rows of a window in its order alone.
//!
//! Where rows come in the opposite order, the engine would compute them backwards instead of sorting. Rows with the same keys
//! would come backwards, too, and another one of them would be the first, the next or the last.

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::function::{
    ExpressionArgs, PartitionEvaluatorArgs, WindowFunctionSimplification, WindowUDFFieldArgs,
};
use datafusion::logical_expr::{
    Documentation, LimitEffect, PartitionEvaluator, Signature, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;

/// The window function, which is not computed backwards.
pub fn forwards(function: Arc<WindowUDF>) -> WindowUDF {
    WindowUDF::new_from_impl(Forwards(function))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Forwards(Arc<WindowUDF>);

impl WindowUDFImpl for Forwards {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn aliases(&self) -> &[String] {
        self.0.aliases()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn expressions(&self, args: ExpressionArgs) -> Vec<Arc<dyn PhysicalExpr>> {
        self.0.expressions(args)
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        self.0.partition_evaluator_factory(args)
    }

    fn simplify(&self) -> Option<WindowFunctionSimplification> {
        self.0.simplify()
    }

    fn field(&self, args: WindowUDFFieldArgs) -> Result<FieldRef> {
        self.0.field(args)
    }

    fn sort_options(&self) -> Option<SortOptions> {
        self.0.sort_options()
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.0.coerce_types(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.0.documentation()
    }

    fn limit_effect(&self, args: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        self.0.inner().limit_effect(args)
    }
}
