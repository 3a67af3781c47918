//! A join's predicate that checks whether its statement has to end.

use crate::scope::check;
use crate::short_circuit::short_circuit;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::joins::utils::JoinFilter;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use values::translate::external;

/// The filter of a join, with a check before each evaluation.
///
/// # Errors
/// Errors of the engine.
pub(super) fn with_check(filter: &JoinFilter) -> Result<JoinFilter> {
    let expression = Arc::new(Checked(short_circuit(Arc::clone(filter.expression()))?));
    let columns = filter.column_indices().to_vec();
    Ok(JoinFilter::new(expression, columns, Arc::clone(filter.schema())))
}

#[derive(Debug)]
struct Checked(Arc<dyn PhysicalExpr>);

impl PartialEq for Checked {
    fn eq(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }
}

impl Eq for Checked {}

impl Hash for Checked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PhysicalExpr for Checked {
    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        check().map_err(external)?;
        self.0.evaluate(batch)
    }

    fn return_field(&self, input: &Schema) -> Result<FieldRef> {
        self.0.return_field(input)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.0]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        match children.pop() {
            Some(inner) if children.is_empty() => Ok(Arc::new(Self(inner))),
            _ => Err(DataFusionError::Internal("a check has one expression".to_owned())),
        }
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_sql(f)
    }
}
