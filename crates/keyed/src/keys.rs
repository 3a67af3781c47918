//! The keys that a condition admits.

use crate::condition::{Condition, Next};
use crate::conjunct::Comparison;
use crate::lists::{items, values_of};
use crate::operand::{Converted, Operand, converted};
use datafusion::arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use scan::key_ranges;
use sdds::{Key, KeyRange};
use store::catalog::{Column, Table};
use values::error::Result;

/// The keys that a condition admits.
#[derive(Debug)]
pub(crate) enum Keys {
    /// These, in order and different.
    Listed(Vec<Key>),
    /// Those of a range.
    Within(KeyRange),
}

const NONE: Keys = Keys::Listed(Vec::new());

/// The key of a row; `None` if a value is not of its column's type, or NULL.
///
/// # Errors
/// 42P02 if a parameter does not exist.
pub fn point(
    table: &Table,
    operands: &[Operand],
    parameters: &[ScalarValue],
) -> Result<Option<Key>> {
    let mut values = Vec::with_capacity(operands.len());
    for (operand, index) in operands.iter().zip(table.key_indices()) {
        match converted(operand, &table.columns[index], parameters)? {
            Some(Converted::Value(value)) => values.push(value),
            Some(Converted::Null) | None => return Ok(None),
        }
    }
    Ok(store::key::encode_columns(&values)?.pop())
}

impl Condition {
    /// The keys; `None` if a value is not of its column's type.
    pub(crate) fn keys(&self, table: &Table, parameters: &[ScalarValue]) -> Result<Option<Keys>> {
        let key = table.key_indices();
        let mut prefix = Vec::with_capacity(key.len());
        let mut nothing = false;
        for (operand, index) in self.prefix.iter().zip(&key) {
            match converted(operand, &table.columns[*index], parameters)? {
                Some(Converted::Value(value)) => prefix.push(value),
                Some(Converted::Null) => nothing = true,
                None => return Ok(None),
            }
        }
        let keys = match key.get(self.prefix.len()) {
            None if nothing => NONE,
            None => Keys::Listed(store::key::encode_columns(&prefix)?),
            Some(index) => {
                let column = &table.columns[*index];
                let Some(keys) = self.keys_below(&prefix, column, parameters)? else {
                    return Ok(None);
                };
                keys
            }
        };
        Ok(Some(if nothing { NONE } else { keys }))
    }

    /// The keys below a prefix, by what the condition says about the next key column.
    fn keys_below(
        &self,
        prefix: &[ArrayRef],
        column: &Column,
        parameters: &[ScalarValue],
    ) -> Result<Option<Keys>> {
        let listed = |values: Vec<ArrayRef>| {
            let keys = values.into_iter().map(|value| {
                let columns = [prefix, &[value]].concat();
                Ok(store::key::encode_columns(&columns)?.pop())
            });
            let keys = keys.collect::<Result<Option<Vec<Key>>>>()?;
            Ok(keys.map(|mut keys| {
                keys.sort_unstable();
                keys.dedup();
                Keys::Listed(keys)
            }))
        };
        match &self.next {
            Next::OneOf(operands) => match values_of(operands, column, parameters)? {
                Some(values) => listed(values),
                None => Ok(None),
            },
            Next::AnyOf(array) => match items(array, array.value(parameters)?, column) {
                Some(values) => listed(values),
                None => Ok(None),
            },
            Next::Any => Ok(key_ranges::of_prefix(prefix).map(Keys::Within)),
            Next::Compared(comparisons) => within(prefix, comparisons, column, parameters),
        }
    }
}

/// The keys below a prefix whose next column fulfils comparisons.
fn within(
    prefix: &[ArrayRef],
    comparisons: &[(Comparison, Operand)],
    column: &Column,
    parameters: &[ScalarValue],
) -> Result<Option<Keys>> {
    let mut range = key_ranges::of_prefix(prefix);
    let mut nothing = false;
    for (comparison, operand) in comparisons {
        let value = match converted(operand, column, parameters)? {
            Some(Converted::Value(value)) => value,
            Some(Converted::Null) => {
                nothing = true;
                continue;
            }
            None => return Ok(None),
        };
        let operator = match comparison {
            Comparison::Equal | Comparison::NotEqual => return Ok(None),
            Comparison::Less => Operator::Lt,
            Comparison::LessOrEqual => Operator::LtEq,
            Comparison::Greater => Operator::Gt,
            Comparison::GreaterOrEqual => Operator::GtEq,
        };
        let limit = key_ranges::compared(prefix, operator, value);
        range = range.zip(limit).and_then(|(range, limit)| range.intersect(&limit));
    }
    Ok(Some(range.filter(|_| !nothing).map_or(NONE, Keys::Within)))
}
