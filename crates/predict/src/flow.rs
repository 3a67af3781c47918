//! The rows that an operator returns to the next.

use crate::terms::Rows;
use datafusion::arrow::datatypes::Schema;
use dbsim::plan::OperatorId;
use scan::estimate::Column;

/// Rows of an operator.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    /// The operator of the simulator that returns them.
    pub(super) operator: OperatorId,
    pub(super) rows: f64,
    pub(super) columns: Vec<Column>,
}

impl Flow {
    /// The rows as the input of expressions.
    pub(super) fn over<'a>(&'a self, schema: &'a Schema) -> Rows<'a> {
        Rows { rows: self.rows, columns: &self.columns, schema }
    }
}
