//! Queries without FROM whose results are constants and parameters: `SELECT 1`, `SELECT $1`.
//!
//! What types and names their columns have, an earlier answer tells.

use crate::operand::Operand;
use crate::outputs::{is_bare_call, item_of};
use crate::plain;
use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::ScalarValue;
use grammar::tree::{NodeEnum, SelectStmt};
use std::sync::Arc;
use store::catalog::SqlType;

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
    /// The value of a parameter as another type of integers.
    Cast(usize),
}

impl Constants {
    /// The query, if it is one of constants and parameters.
    pub fn recognise(query: &SelectStmt) -> Option<Self> {
        let is_bare = plain::is_plain(query)
            && query.from_clause.is_empty()
            && query.where_clause.is_none()
            && query.sort_clause.is_empty()
            && query.limit_count.is_none()
            && query.limit_offset.is_none();
        if !is_bare || query.target_list.is_empty() {
            return None;
        }
        let items = query.target_list.iter().map(|item| Item::of(item_of(item)?.0));
        items.collect::<Option<_>>().map(Self)
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
    fn of(value: &NodeEnum) -> Option<Self> {
        if let NodeEnum::TypeCast(cast) = value {
            // Domains and object ids are integers with values and casts of their own.
            let is_plain = matches!(
                parser::types::of_name(cast.type_name.as_ref()?)?,
                SqlType::SmallInt | SqlType::Integer | SqlType::BigInt
            );
            let number = Operand::of(cast.arg.as_deref()?.node.as_ref()?)?.number()?;
            return is_plain.then_some(Self::Cast(number));
        }
        if let NodeEnum::FuncCall(call) = value {
            return (is_bare_call(call, "version") && !call.agg_star).then_some(Self::Fixed);
        }
        Some(Operand::of(value)?.number().map_or(Self::Fixed, Self::Parameter))
    }
}
