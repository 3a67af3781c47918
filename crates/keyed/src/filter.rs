//! A comparison of a column with a value, applied to rows that are found by their keys.

use crate::conjunct::Comparison;
use crate::operand::{Converted, Operand, converted};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Scalar};
use datafusion::arrow::compute::kernels::cmp;
use datafusion::common::ScalarValue;
use store::catalog::Table;
use values::error::Result;

/// A comparison of a column with a value.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(crate) column: usize,
    pub(crate) comparison: Comparison,
    pub(crate) operand: Operand,
}

/// A filter with its value.
pub(crate) struct Bound {
    comparison: Comparison,
    /// `None` for NULL, which no row fulfils.
    value: Option<Scalar<ArrayRef>>,
}

impl Filter {
    /// The filter with its value; `None` if that is not of the column's type.
    pub(crate) fn bind(&self, table: &Table, parameters: &[ScalarValue]) -> Result<Option<Bound>> {
        let comparison = self.comparison;
        let found = converted(&self.operand, &table.columns[self.column], parameters)?;
        Ok(found.map(|found| match found {
            Converted::Null => Bound { comparison, value: None },
            Converted::Value(value) => Bound { comparison, value: Some(Scalar::new(value)) },
        }))
    }
}

impl Bound {
    /// Which values of the column fulfil it.
    pub(crate) fn matching(&self, column: &ArrayRef) -> Result<BooleanArray> {
        let Some(value) = &self.value else {
            return Ok(BooleanArray::from(vec![false; column.len()]));
        };
        Ok(match self.comparison {
            Comparison::Equal => cmp::eq(column, value),
            Comparison::Less => cmp::lt(column, value),
            Comparison::LessOrEqual => cmp::lt_eq(column, value),
            Comparison::Greater => cmp::gt(column, value),
            Comparison::GreaterOrEqual => cmp::gt_eq(column, value),
        }?)
    }
}
