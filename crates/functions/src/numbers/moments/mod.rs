//! Averages, variance, standard deviation, covariance, correlation and linear regression of floating-point numbers.
//!
//! States of parts can be merged, so owners of rows send the states of their groups only. Rows cannot be taken out of a state:
//! they would leave their rounding errors, and an infinite number would never leave. Windows compute the moments anew for
//! each frame, as PostgreSQL does it.

mod groups;
mod state;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility,
};
use state::{Measure, Moments};
use std::sync::Arc;

/// The aggregates.
pub(crate) fn all() -> impl Iterator<Item = AggregateUDF> {
    Measure::ALL.into_iter().map(|measure| {
        let arguments = vec![DataType::Float64; measure.arguments()];
        let signature = Signature::exact(arguments, Volatility::Immutable);
        AggregateUDF::new_from_impl(Statistic { measure, signature })
    })
}

/// The parts of a state, in this order.
const PARTS: [&str; 6] = ["count", "sum_y", "sum_x", "squares_y", "squares_x", "products"];

#[derive(Debug, PartialEq, Eq, Hash)]
struct Statistic {
    measure: Measure,
    signature: Signature,
}

impl AggregateUDFImpl for Statistic {
    fn name(&self) -> &str {
        self.measure.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(All { measure: self.measure, moments: Moments::default() }))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        _: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(groups::Groups::new(self.measure)))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let field = |part| Field::new(format!("{}[{part}]", args.name), DataType::Float64, true);
        Ok(PARTS.into_iter().map(|part| Arc::new(field(part))).collect())
    }
}

/// The rows of one or two columns, without those that have a NULL.
struct Pairs<'a> {
    first: &'a Float64Array,
    second: Option<&'a Float64Array>,
}

impl<'a> Pairs<'a> {
    fn of(values: &'a [ArrayRef]) -> Self {
        let second = values.get(1).map(|column| column.as_primitive::<Float64Type>());
        Self { first: values[0].as_primitive::<Float64Type>(), second }
    }

    fn len(&self) -> usize {
        self.first.len()
    }

    /// A row's numbers, if none is NULL.
    fn at(&self, row: usize) -> Option<[f64; 2]> {
        let is_null = self.first.is_null(row) || self.second.is_some_and(|all| all.is_null(row));
        let second = |all: &Float64Array| all.value(row);
        (!is_null).then(|| [self.first.value(row), self.second.map_or(0.0, second)])
    }

    fn each(&self) -> impl Iterator<Item = [f64; 2]> {
        (0..self.len()).filter_map(|row| self.at(row))
    }
}

/// States in columns.
struct States<'a>([&'a Float64Array; 6]);

impl<'a> States<'a> {
    fn of(columns: &'a [ArrayRef]) -> Self {
        Self(std::array::from_fn(|part| columns[part].as_primitive::<Float64Type>()))
    }

    fn len(&self) -> usize {
        self.0[0].len()
    }

    fn at(&self, row: usize) -> Moments {
        let [count, sum_y, sum_x, squares_y, squares_x, products] =
            self.0.map(|part| part.value(row));
        let (sums, squares) = ([sum_y, sum_x], [squares_y, squares_x]);
        Moments { count, sums, squares, products }
    }
}

/// The parts of a state.
fn parts(moments: &Moments) -> [f64; 6] {
    let Moments { count, sums: [sum_y, sum_x], squares: [squares_y, squares_x], products } =
        *moments;
    [count, sum_y, sum_x, squares_y, squares_x, products]
}

/// All rows of one group.
#[derive(Debug)]
struct All {
    measure: Measure,
    moments: Moments,
}

impl Accumulator for All {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Pairs::of(values).each().try_for_each(|pair| self.moments.add(pair))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = States::of(states);
        (0..states.len()).try_for_each(|row| self.moments.merge(&states.at(row)))
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.measure.of(&self.moments)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(parts(&self.moments).map(ScalarValue::from).to_vec())
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}
