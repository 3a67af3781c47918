//! Parameters as columns, so that an expression is planned once for all executions.

use chrono::{DateTime, Utc};
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, IntervalUnit, Schema, TimeUnit};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable};
use std::collections::HashMap;
use std::sync::Arc;

/// A value that an expression gets for each execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// A parameter, by its index from 0.
    Parameter(usize),
    /// `now()`: the time at which the transaction began.
    Moment,
}

/// The values that expressions get, with their types. They become columns after those of the row.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    known: Vec<(Input, FieldRef)>,
    takes_moment: bool,
}

/// Whether a type is that of all values of a SQL type, so that an expression has the same meaning for a column and for a
/// constant.
fn is_plain(data_type: &DataType) -> bool {
    use DataType as D;
    match data_type {
        D::Boolean | D::Int16 | D::Int32 | D::Int64 | D::Float32 | D::Float64 | D::Utf8View => true,
        D::Date32 | D::BinaryView | D::LargeBinary => true,
        D::Timestamp(unit, _) | D::Time64(unit) => *unit == TimeUnit::Microsecond,
        D::Interval(unit) => *unit == IntervalUnit::MonthDayNano,
        D::List(item) => is_plain(item.data_type()),
        _ => false,
    }
}

impl Inputs {
    /// None yet, of expressions that may call `now()`. They must call no other stable function.
    pub fn with_moment() -> Self {
        Self { known: Vec::new(), takes_moment: true }
    }

    /// Parameters with these types, in order.
    pub fn of_types(types: impl IntoIterator<Item = DataType>) -> Self {
        let input = |(at, of): (usize, DataType)| {
            let input = Input::Parameter(at);
            (input, Arc::new(Field::new(name(input), of, true)))
        };
        let known = types.into_iter().enumerate().map(input).collect();
        Self { known, takes_moment: false }
    }

    /// The types of the columns, in order.
    pub fn types(&self) -> impl Iterator<Item = &DataType> {
        self.known.iter().map(|(_, field)| field.data_type())
    }

    /// The parameters among them by their numbers from 0, with the types of the columns. Without the moment they are all.
    pub fn parameters(&self) -> impl Iterator<Item = (usize, &DataType)> {
        self.known.iter().filter_map(|(input, field)| match input {
            Input::Parameter(number) => Some((*number, field.data_type())),
            Input::Moment => None,
        })
    }

    /// Replaces parameters by columns, and calls of `now()` if it takes the moment. `None` if the type of a parameter is
    /// unknown, not plain or ambiguous.
    pub(super) fn replace(&mut self, expr: Expr) -> Result<Option<Expr>> {
        let mut is_known = true;
        let replaced = expr.transform(|expr| {
            let input = match &expr {
                Expr::Placeholder(placeholder) => {
                    let number = placeholder.id.strip_prefix('$');
                    let number = number.and_then(|number| number.parse::<usize>().ok());
                    let number = number.and_then(|number| number.checked_sub(1));
                    number
                        .zip(placeholder.field.as_ref())
                        .and_then(|(number, field)| self.note_parameter(number, field))
                }
                Expr::ScalarFunction(call) if self.takes_moment && is_now(call) => {
                    let data_type = expr.get_type(&DFSchema::empty())?;
                    self.note(Input::Moment, &Field::new("", data_type, true))
                }
                _ => return Ok(Transformed::no(expr)),
            };
            match input {
                Some(input) => {
                    Ok(Transformed::yes(Expr::Column(Column::new_unqualified(name(input)))))
                }
                None => {
                    is_known = false;
                    Ok(Transformed::no(expr))
                }
            }
        })?;
        let is_lasting = || !self.takes_moment || crate::is_lasting(&replaced.data);
        let is_known = is_known && is_lasting();
        Ok(is_known.then_some(replaced.data))
    }

    fn note_parameter(&mut self, number: usize, of: &Field) -> Option<Input> {
        is_plain(of.data_type()).then(|| self.note(Input::Parameter(number), of)).flatten()
    }

    /// The input, unless it has another type elsewhere. What the field says of its SQL type is kept: a function does not have to
    /// read a `jsonb` value that is known to be one.
    fn note(&mut self, input: Input, of: &Field) -> Option<Input> {
        match self.known.iter().find(|(known, _)| *known == input) {
            Some((_, known)) => (known.data_type() == of.data_type()).then_some(input),
            None => {
                let field = Field::new(name(input), of.data_type().clone(), true);
                let field = field.with_metadata(of.metadata().clone());
                self.known.push((input, Arc::new(field)));
                Some(input)
            }
        }
    }

    /// The columns.
    pub fn fields(&self) -> Vec<FieldRef> {
        self.known.iter().map(|(_, field)| Arc::clone(field)).collect()
    }

    /// A schema followed by the columns.
    pub(super) fn behind(&self, schema: &DFSchema) -> Result<DFSchema> {
        let fields = self.fields().iter().map(|field| field.as_ref().clone()).collect();
        schema.join(&DFSchema::from_unqualified_fields(fields, HashMap::new())?)
    }

    /// The values of the columns for an execution with `parameters` in a transaction that began at `moment`, which is
    /// needed only by those [`Self::with_moment`]. `None` if one is missing or has another type. Narrower integers are
    /// widened.
    pub fn values(
        &self,
        parameters: &[ScalarValue],
        moment: Option<DateTime<Utc>>,
    ) -> Option<Vec<ScalarValue>> {
        let value = |(input, field): &(Input, FieldRef)| {
            let data_type = field.data_type();
            let given = match input {
                Input::Parameter(number) => parameters.get(*number)?,
                Input::Moment => return moment_of(moment?, data_type),
            };
            match given.data_type() {
                same if same == *data_type => Some(given.clone()),
                DataType::Int16 | DataType::Int32 if *data_type == DataType::Int64 => {
                    given.cast_to(data_type).ok()
                }
                DataType::Int16 if *data_type == DataType::Int32 => given.cast_to(data_type).ok(),
                _ => None,
            }
        };
        self.known.iter().map(value).collect()
    }
}

impl Inputs {
    /// The values of the columns as a row. `None` as for [`Self::values`].
    ///
    /// # Errors
    /// XX000 for values that are no columns.
    pub fn row(
        &self,
        parameters: &[ScalarValue],
        moment: Option<DateTime<Utc>>,
    ) -> Result<Option<RecordBatch>> {
        let Some(values) = self.values(parameters, moment) else { return Ok(None) };
        let columns = values.iter().map(|value| value.to_array_of_size(1));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let schema = Arc::new(Schema::new(self.fields()));
        Ok(Some(RecordBatch::try_new_with_options(schema, columns, &options)?))
    }
}

fn is_now(call: &ScalarFunction) -> bool {
    call.func.name() == "now" && call.args.is_empty()
}

/// A time in the type of `now()`.
fn moment_of(moment: DateTime<Utc>, data_type: &DataType) -> Option<ScalarValue> {
    let DataType::Timestamp(_, zone) = data_type else { return None };
    let nanos = ScalarValue::TimestampNanosecond(moment.timestamp_nanos_opt(), zone.clone());
    nanos.cast_to(data_type).ok()
}

fn name(input: Input) -> String {
    match input {
        Input::Parameter(number) => format!("${}", number + 1),
        Input::Moment => "now()".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_must_have_the_planned_types() {
        let mut inputs = Inputs::default();
        let of = |data_type| Field::new("", data_type, true);
        inputs.note_parameter(1, &of(DataType::Int32)).expect("a plain type");
        inputs.note_parameter(0, &of(DataType::Utf8View)).expect("a plain type");
        let text = ScalarValue::Utf8View(Some("a".into()));
        let of = |value: ScalarValue| inputs.values(&[text.clone(), value], None);
        let four = ScalarValue::Int32(Some(4));
        assert_eq!(of(four.clone()), Some(vec![four.clone(), text.clone()]));
        assert_eq!(of(ScalarValue::Int16(Some(4))), Some(vec![four, text.clone()]));
        assert_eq!(of(ScalarValue::Int64(Some(4))), None, "wider");
        assert_eq!(inputs.values(std::slice::from_ref(&text), None), None, "missing");
    }
}
