//! The columns of a table that a join compares with values of left rows.

use datafusion::arrow::datatypes::DataType;
use datafusion::physical_expr::PhysicalExpr;
use std::sync::Arc;

/// A column of a table that is compared with a value of left rows.
#[derive(Clone)]
pub(super) struct Joined {
    /// The left value.
    pub(super) left: Arc<dyn PhysicalExpr>,
    /// The column.
    pub(super) column: usize,
}

/// Whether values of a type that are equal in a join have the same bytes in keys.
pub(super) fn can_be_looked_up(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Boolean
                | DataType::Utf8View
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
                | DataType::Decimal128(..)
                | DataType::Date32
                | DataType::Time64(_)
                | DataType::Timestamp(..)
        )
}
