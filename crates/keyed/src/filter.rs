//! What a column of rows that are found by their keys must fulfil, too.

use crate::conjunct::Comparison;
use crate::operand::{Converted, Operand, converted};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Scalar};
use datafusion::arrow::compute::kernels::cmp;
use datafusion::arrow::compute::{is_not_null, is_null};
use datafusion::common::ScalarValue;
use store::catalog::Table;
use values::error::Result;

/// What a column must fulfil.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(crate) column: usize,
    pub(crate) is: Is,
}

/// What the value of a column must be.
#[derive(Debug)]
pub(crate) enum Is {
    Compared(Comparison, Operand),
    Null,
    NotNull,
}

/// A filter with its value.
pub(crate) enum Bound {
    Compared(Comparison, Scalar<ArrayRef>),
    Null,
    NotNull,
    /// A comparison with NULL, which no row fulfils.
    Never,
}

impl Filter {
    /// The filter with its value; `None` if that is not of the column's type.
    pub(crate) fn bind(&self, table: &Table, parameters: &[ScalarValue]) -> Result<Option<Bound>> {
        let (comparison, operand) = match &self.is {
            Is::Compared(comparison, operand) => (*comparison, operand),
            Is::Null => return Ok(Some(Bound::Null)),
            Is::NotNull => return Ok(Some(Bound::NotNull)),
        };
        let found = converted(operand, &table.columns[self.column], parameters)?;
        Ok(found.map(|found| match found {
            Converted::Null => Bound::Never,
            Converted::Value(value) => Bound::Compared(comparison, Scalar::new(value)),
        }))
    }

    /// What the column is equal to, if that is the filter.
    pub(crate) fn equal_to(&self) -> Option<&Operand> {
        match &self.is {
            Is::Compared(Comparison::Equal, operand) => Some(operand),
            _ => None,
        }
    }
}

impl Bound {
    /// Which values of the column fulfil it.
    pub(crate) fn matching(&self, column: &ArrayRef) -> Result<BooleanArray> {
        let (comparison, value) = match self {
            Self::Compared(comparison, value) => (comparison, value),
            Self::Null => return Ok(is_null(column)?),
            Self::NotNull => return Ok(is_not_null(column)?),
            Self::Never => return Ok(BooleanArray::from(vec![false; column.len()])),
        };
        Ok(match comparison {
            Comparison::Equal => cmp::eq(column, value),
            Comparison::NotEqual => cmp::neq(column, value),
            Comparison::Less => cmp::lt(column, value),
            Comparison::LessOrEqual => cmp::lt_eq(column, value),
            Comparison::Greater => cmp::gt(column, value),
            Comparison::GreaterOrEqual => cmp::gt_eq(column, value),
        }?)
    }
}
