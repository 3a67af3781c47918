//! Queries without FROM whose results are constants and parameters: `SELECT 1`, `SELECT $1`.
//!
//! What types and names their columns have, an earlier answer tells.

use crate::operand::Operand;
use crate::plain;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{CastKind, Expr, Query, SelectItem};
use std::sync::Arc;

/// A query of constants and parameters.
#[derive(Debug)]
pub struct Constants(Vec<Item>);

/// A column of the result.
#[derive(Debug)]
enum Item {
    /// The same in each answer.
    Fixed,
    /// The value of a parameter.
    Parameter(usize),
    /// The value of a parameter as another type.
    Cast(usize),
}

impl Constants {
    /// The query, if it is one of constants and parameters.
    pub fn recognise(query: &Query) -> Option<Self> {
        let select = plain::select_of(query)?;
        let is_bare = select.from.is_empty()
            && select.selection.is_none()
            && query.order_by.is_none()
            && query.limit_clause.is_none();
        if !is_bare || select.projection.is_empty() {
            return None;
        }
        let item = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(value) => Item::of(value),
            SelectItem::ExprWithAlias { expr, .. } => Item::of(expr),
            _ => None,
        };
        select.projection.iter().map(item).collect::<Option<_>>().map(Self)
    }

    /// The answer with some values, by an earlier answer to the same query. `None` if a value has
    /// to be converted in a way that only the planner knows.
    pub fn answer(&self, earlier: &RecordBatch, parameters: &[ScalarValue]) -> Option<RecordBatch> {
        if earlier.num_rows() != 1 || earlier.num_columns() != self.0.len() {
            return None;
        }
        let column = |(item, column): (&Item, &ArrayRef)| {
            let data_type = column.data_type();
            match item {
                Item::Fixed => Some(Arc::clone(column)),
                Item::Parameter(number) => {
                    let value = parameters.get(*number)?;
                    (value.data_type() == *data_type).then(|| value.to_array().ok())?
                }
                Item::Cast(number) => {
                    let value = parameters.get(*number)?;
                    let is_plain = value.data_type().is_integer() && data_type.is_integer();
                    is_plain.then(|| value.cast_to(data_type).ok()?.to_array().ok())?
                }
            }
        };
        let columns = self.0.iter().zip(earlier.columns()).map(column).collect::<Option<_>>()?;
        RecordBatch::try_new(earlier.schema(), columns).ok()
    }
}

impl Item {
    fn of(value: &Expr) -> Option<Self> {
        if let Expr::Cast { kind: CastKind::DoubleColon | CastKind::Cast, expr, .. } = value {
            return Operand::of(expr)?.number().map(Self::Cast);
        }
        if let Expr::Function(call) = value {
            let is_version = call.to_string().eq_ignore_ascii_case("version()");
            return is_version.then_some(Self::Fixed);
        }
        Some(Operand::of(value)?.number().map_or(Self::Fixed, Self::Parameter))
    }
}
