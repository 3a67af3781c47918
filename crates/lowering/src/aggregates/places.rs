//! Places and shares of rows, by the numbers of rows.

use crate::refusal::Result;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast, lit, when};

/// The place of a row behind others.
pub(super) fn place(before: Expr) -> (Expr, DataType) {
    let one = lit(ScalarValue::Int64(Some(1)));
    (binary_expr(cast(before, DataType::Int64), Operator::Plus, one), DataType::Int64)
}

/// The share of some rows among all, both with so many more; 0 of none.
pub(super) fn share(some: Expr, all: Expr, more: f64) -> Result<(Expr, DataType)> {
    let number = |rows: Expr| binary_expr(cast(rows, DataType::Float64), Operator::Plus, lit(more));
    let all = number(all);
    let share = binary_expr(number(some), Operator::Divide, all.clone());
    Ok((when(all.eq(lit(0.0)), lit(0.0)).otherwise(share)?, DataType::Float64))
}
