//! Parameters as columns, so that an expression is planned once for all executions.

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::Expr;
use std::collections::HashMap;
use std::sync::Arc;

/// The parameters that expressions use, by zero-based index, with their types. They become columns
/// after those of the row.
#[derive(Debug, Clone, Default)]
pub struct Inputs(pub Vec<(usize, DataType)>);

/// Whether a type has no scale or unit, so that an expression has the same meaning for a column and
/// for a constant.
fn is_plain(data_type: &DataType) -> bool {
    use DataType as D;
    match data_type {
        D::Boolean | D::Int16 | D::Int32 | D::Int64 | D::Float32 | D::Float64 | D::Utf8View => true,
        D::List(item) => is_plain(item.data_type()),
        _ => false,
    }
}

impl Inputs {
    /// Replaces parameters by columns. `None` if the type of one is unknown, not plain or
    /// ambiguous.
    pub(super) fn replace(&mut self, expr: Expr) -> Result<Option<Expr>> {
        let mut is_known = true;
        let replaced = expr.transform(|expr| {
            let Expr::Placeholder(placeholder) = &expr else { return Ok(Transformed::no(expr)) };
            let number = placeholder.id.strip_prefix('$').and_then(|n| n.parse::<usize>().ok());
            let number = number.and_then(|number| number.checked_sub(1));
            match (number, &placeholder.field) {
                (Some(number), Some(field)) if self.note(number, field.data_type()) => {
                    Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name(number)))))
                }
                _ => {
                    is_known = false;
                    Ok(Transformed::no(expr))
                }
            }
        })?;
        Ok(is_known.then_some(replaced.data))
    }

    fn note(&mut self, number: usize, data_type: &DataType) -> bool {
        match self.0.iter().find(|(known, _)| *known == number) {
            Some((_, known)) => known == data_type,
            None if is_plain(data_type) => {
                self.0.push((number, data_type.clone()));
                true
            }
            None => false,
        }
    }

    /// The columns for the parameters.
    pub fn fields(&self) -> Vec<FieldRef> {
        let field = |(number, data_type): &(usize, DataType)| {
            Arc::new(Field::new(name(*number), data_type.clone(), true))
        };
        self.0.iter().map(field).collect()
    }

    /// A schema followed by the columns for the parameters.
    pub(super) fn behind(&self, schema: &DFSchema) -> Result<DFSchema> {
        let fields = self.fields().iter().map(|field| field.as_ref().clone()).collect();
        schema.join(&DFSchema::from_unqualified_fields(fields, HashMap::new())?)
    }

    /// The values of the columns for an execution with `parameters`. `None` if one is missing or
    /// has another type. Narrower integers are widened.
    pub fn values(&self, parameters: &[ScalarValue]) -> Option<Vec<ScalarValue>> {
        let value = |(number, data_type): &(usize, DataType)| {
            let given = parameters.get(*number)?;
            match given.data_type() {
                same if same == *data_type => Some(given.clone()),
                DataType::Int16 | DataType::Int32 if *data_type == DataType::Int64 => {
                    given.cast_to(data_type).ok()
                }
                DataType::Int16 if *data_type == DataType::Int32 => given.cast_to(data_type).ok(),
                _ => None,
            }
        };
        self.0.iter().map(value).collect()
    }
}

fn name(number: usize) -> String {
    format!("${}", number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_must_have_the_planned_types() {
        let inputs = Inputs(vec![(1, DataType::Int32), (0, DataType::Utf8View)]);
        let text = ScalarValue::Utf8View(Some("a".into()));
        let of = |value: ScalarValue| inputs.values(&[text.clone(), value]);
        let four = ScalarValue::Int32(Some(4));
        assert_eq!(of(four.clone()), Some(vec![four.clone(), text.clone()]));
        assert_eq!(of(ScalarValue::Int16(Some(4))), Some(vec![four, text.clone()]));
        assert_eq!(of(ScalarValue::Int64(Some(4))), None, "wider");
        assert_eq!(inputs.values(std::slice::from_ref(&text)), None, "missing");
    }
}
