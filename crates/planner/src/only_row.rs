//! Queries without FROM, evaluated without a physical plan.

use crate::Planner;
use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Result as EngineResult, ScalarValue};
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::sync::Arc;
use values::error::Result;

impl Planner<'_> {
    /// The row of a query that only computes expressions. `None` for other queries.
    ///
    /// # Errors
    /// Those of the expressions.
    pub fn only_row(&self, plan: &LogicalPlan) -> Result<Option<RecordBatch>> {
        let LogicalPlan::Projection(projection) = plan else { return Ok(None) };
        let LogicalPlan::EmptyRelation(empty) = &*projection.input else { return Ok(None) };
        if !empty.produce_one_row || !projection.expr.iter().all(is_computed) {
            return Ok(None);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let nothing =
            RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
        let value = |expr: &Expr| -> Result<ArrayRef> {
            let (_, physical) = self.physical_expression(expr.clone().unalias(), &empty.schema)?;
            Ok(physical.evaluate(&nothing)?.into_array(1)?)
        };
        let values = projection.expr.iter().map(value).collect::<Result<Vec<_>>>()?;
        let fields = plan.schema().fields().iter().zip(&values);
        let fields = fields.map(|(field, value)| {
            let field = field.as_ref().clone().with_data_type(value.data_type().clone());
            field.with_nullable(true)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        Ok(Some(RecordBatch::try_new_with_options(schema, values, &options)?))
    }
}

/// The values of a row.
///
/// # Errors
/// Arrow refuses a type.
pub fn values_of(row: &RecordBatch) -> Result<Vec<ScalarValue>> {
    let values = row.columns().iter().map(|array| ScalarValue::try_from_array(array, 0));
    Ok(values.collect::<EngineResult<Vec<_>>>()?)
}

/// Whether an expression has no subquery, waits for nothing, and is one value.
fn is_computed(expr: &Expr) -> bool {
    let is_other = |part: &Expr| {
        use Expr::{Exists, InSubquery, ScalarSubquery, SetComparison, Unnest, WindowFunction};
        let is_awaited = matches!(part, Expr::ScalarFunction(call) if executor::waits(&call.func));
        Ok(is_awaited
            || matches!(
                part,
                Exists(_)
                    | InSubquery(_)
                    | ScalarSubquery(_)
                    | SetComparison(_)
                    | Unnest(_)
                    | WindowFunction(_)
                    | Expr::AggregateFunction(_)
            ))
    };
    !expr.exists(is_other).unwrap_or(true)
}
