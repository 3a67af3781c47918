//! The arguments of a call, as far as the size of its result depends on them.

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::ColumnarValue;

/// An argument: a column, or a value for all rows.
pub(crate) struct Argument {
    values: ArrayRef,
    is_constant: bool,
}

impl Argument {
    pub(super) fn new(value: &ColumnarValue) -> Result<Self> {
        let is_constant = matches!(value, ColumnarValue::Scalar(_));
        Ok(Self { values: value.to_array(1)?, is_constant })
    }

    fn at(&self, row: usize) -> Option<usize> {
        let row = if self.is_constant { 0 } else { row };
        self.values.is_valid(row).then_some(row)
    }

    /// The bytes of a text; 0 for NULL and for other types.
    pub(crate) fn bytes(&self, row: usize) -> u64 {
        self.text(row).map_or(0, |text| text.len() as u64)
    }

    /// A text; `None` for NULL and for other types.
    pub(super) fn text(&self, row: usize) -> Option<&str> {
        let row = self.at(row)?;
        match self.values.data_type() {
            DataType::Utf8View => Some(self.values.as_string_view().value(row)),
            DataType::Utf8 => Some(self.values.as_string::<i32>().value(row)),
            DataType::LargeUtf8 => Some(self.values.as_string::<i64>().value(row)),
            _ => None,
        }
    }

    /// A number that is not negative; 0 for NULL and for other types.
    pub(super) fn count(&self, row: usize) -> u64 {
        let Some(row) = self.at(row) else { return 0 };
        let number = self.values.as_primitive_opt::<Int64Type>().map_or(0, |all| all.value(row));
        u64::try_from(number).unwrap_or(0)
    }
}
