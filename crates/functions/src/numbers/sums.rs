//! `sum` of floating-point numbers: a sum of finite numbers that is infinite is an error.
//!
//! The values are added one after the other, as PostgreSQL adds them. Sums of parts can be merged. Rows cannot be taken out
//! of a sum: they would leave their rounding errors.

use super::floats::out_of_range;
use crate::aggregates::takes;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use std::sync::Arc;
use values::translate::external;

/// The names of the sums of `real` and of `double precision`. Both take and return 64 bits.
const SUMS: [&str; 2] = ["real_sum", "float_sum"];

/// The aggregates.
pub(crate) fn all() -> [AggregateUDF; 2] {
    [Width::Single, Width::Double].map(|width| {
        let signature = Signature::exact(vec![DataType::Float64], Volatility::Immutable);
        AggregateUDF::new_from_impl(OfFloats { width, signature })
    })
}

/// The numbers that a sum may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Width {
    Single,
    Double,
}

impl Width {
    /// A sum with one more value.
    fn added(self, sum: Option<f64>, value: f64) -> Result<f64> {
        let sum = sum.unwrap_or(0.0);
        let added = sum + value;
        let is_over = match self {
            Self::Single => (added as f32).is_infinite(),
            Self::Double => added.is_infinite(),
        };
        if is_over && sum.is_finite() && value.is_finite() {
            return Err(external(out_of_range("overflow")));
        }
        // All NaNs are one.
        Ok(if added.is_nan() { f64::NAN } else { added })
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfFloats {
    width: Width,
    signature: Signature,
}

impl AggregateUDFImpl for OfFloats {
    fn name(&self) -> &str {
        SUMS[usize::from(self.width == Width::Double)]
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(All { width: self.width, sum: None }))
    }

    fn groups_accumulator_supported(&self, _: AccumulatorArgs<'_>) -> bool {
        true
    }

    fn create_groups_accumulator(
        &self,
        _: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Groups { width: self.width, sums: Vec::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format!("{}[sum]", args.name);
        Ok(vec![Arc::new(Field::new(name, DataType::Float64, true))])
    }
}

/// All values of one group.
#[derive(Debug)]
struct All {
    width: Width,
    sum: Option<f64>,
}

impl Accumulator for All {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<Float64Type>().iter().flatten() {
            self.sum = Some(self.width.added(self.sum, value)?);
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(self.sum))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Float64(self.sum)])
    }

    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

/// The values of many groups.
#[derive(Debug)]
struct Groups {
    width: Width,
    sums: Vec<Option<f64>>,
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.sums.resize(total_num_groups, None);
        let values = values[0].as_primitive::<Float64Type>();
        for (row, group) in group_indices.iter().enumerate() {
            if values.is_valid(row) && takes(opt_filter, row) {
                let sum = &mut self.sums[*group];
                *sum = Some(self.width.added(*sum, values.value(row))?);
            }
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        Ok(Arc::new(Float64Array::from(emit_to.take_needed(&mut self.sums))))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit_to)?])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let values = values[0].as_primitive::<Float64Type>().iter().enumerate();
        let taken = values.map(|(row, value)| value.filter(|_| takes(opt_filter, row)));
        Ok(vec![Arc::new(taken.collect::<Float64Array>())])
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<Option<f64>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sums_of_finite_numbers_are_out_of_range() {
        let sum = |width: Width, values: &[f64]| {
            values.iter().try_fold(None, |sum, value| width.added(sum, *value).map(Some))
        };
        assert!(sum(Width::Double, &[1e308, 1e308, -1e308]).is_err());
        assert!(sum(Width::Single, &[3e38, 1e38]).is_err());
        assert_eq!(sum(Width::Double, &[3e38, 1e38]).unwrap(), Some(4e38));
        assert_eq!(sum(Width::Double, &[f64::INFINITY, 1e308]).unwrap(), Some(f64::INFINITY));
        let none = sum(Width::Single, &[f64::INFINITY, f64::NEG_INFINITY]).unwrap();
        assert!(none.is_some_and(|sum| sum.is_nan() && sum.is_sign_positive()));
    }
}
