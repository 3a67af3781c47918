//! What a column of rows that are found by their keys must fulfil, too.

use crate::conjunct::Comparison;
use crate::lists::{items, values_of};
use crate::operand::{Converted, Operand, converted};
use datafusion::arrow::array::{ArrayRef, BooleanArray, Scalar};
use datafusion::arrow::compute::kernels::cmp;
use datafusion::arrow::compute::{is_not_null, is_null, or_kleene};
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
    /// One of these values.
    OneOf(Vec<Operand>),
    /// One of the items of this array.
    AnyOf(Operand),
    Null,
    NotNull,
}

/// A filter with its value.
pub(crate) enum Bound {
    Compared(Comparison, Scalar<ArrayRef>),
    OneOf(Vec<Scalar<ArrayRef>>),
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
            Is::OneOf(_) | Is::AnyOf(_) => {
                let values = self.values(table, parameters)?;
                return Ok(
                    values.map(|all| Bound::OneOf(all.into_iter().map(Scalar::new).collect()))
                );
            }
            Is::Null => return Ok(Some(Bound::Null)),
            Is::NotNull => return Ok(Some(Bound::NotNull)),
        };
        let found = converted(operand, &table.columns[self.column], parameters)?;
        Ok(found.map(|found| match found {
            Converted::Null => Bound::Never,
            Converted::Value(value) => Bound::Compared(comparison, Scalar::new(value)),
        }))
    }

    /// The values of a list without NULLs; `None` if one is not of the column's type, and for other filters.
    pub(crate) fn values(
        &self,
        table: &Table,
        parameters: &[ScalarValue],
    ) -> Result<Option<Vec<ArrayRef>>> {
        let column = &table.columns[self.column];
        match &self.is {
            Is::OneOf(operands) => values_of(operands, column, parameters),
            Is::AnyOf(array) => Ok(items(array, array.value(parameters)?, column)),
            _ => Ok(None),
        }
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
            Self::OneOf(values) => {
                let nothing = BooleanArray::from(vec![false; column.len()]);
                return values.iter().try_fold(nothing, |mask, value| {
                    Ok(or_kleene(&mask, &cmp::eq(column, value)?)?)
                });
            }
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
