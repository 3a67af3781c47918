//! Aggregates that keep all of their input, and return it for each row of a window.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{AggregateFunctionParams, WindowFunctionParams};
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, ReversedUDAF,
    SetMonotonicity, Signature,
};
use executor::{Held, check};
use std::sync::Arc;
use values::translate::external;

/// The engine's aggregates that keep their input.
pub(super) const NAMES: &[&str] = &[
    "array_agg",
    "string_agg",
    "median",
    "percentile_cont",
    "nth_value",
    "jsonb_agg",
    "json_agg",
    "jsonb_object_agg",
    "json_object_agg",
];

/// The aggregate with limits.
pub(super) fn limited(aggregate: Arc<AggregateUDF>) -> AggregateUDF {
    AggregateUDF::new_from_impl(Limited(aggregate))
}

/// An aggregate with limits on what it returns for all rows of a window together. Groups have limits of their own.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Limited(Arc<AggregateUDF>);

impl AggregateUDFImpl for Limited {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn aliases(&self) -> &[String] {
        self.0.aliases()
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.0.schema_name(params)
    }

    fn human_display(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.0.human_display(params)
    }

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.0.window_function_schema_name(params)
    }

    fn display_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.0.display_name(params)
    }

    fn window_function_display_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.0.window_function_display_name(params)
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.0.return_type(types)
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        self.0.return_field(fields)
    }

    fn is_nullable(&self) -> bool {
        self.0.is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Accounting::new(self.0.accumulator(args)?)))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Accounting::new(self.0.create_sliding_accumulator(args)?)))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.0.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.0.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        self.0.create_groups_accumulator(args)
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        beneficial: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = Arc::clone(self.0.inner()).with_beneficial_ordering(beneficial)?;
        Ok(inner.map(|inner| {
            let inner = Arc::new(AggregateUDF::new_from_shared_impl(inner));
            Arc::new(Self(inner)) as Arc<dyn AggregateUDFImpl>
        }))
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.0.order_sensitivity()
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.0.simplify()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.0.reverse_udf() {
            ReversedUDAF::Reversed(reversed) => ReversedUDAF::Reversed(Arc::new(limited(reversed))),
            other => other,
        }
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.0.coerce_types(types)
    }

    fn is_descending(&self) -> Option<bool> {
        self.0.is_descending()
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.0.default_value(data_type)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.0.supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.0.supports_within_group_clause()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.0.inner().set_monotonicity(data_type)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.0.documentation()
    }
}

/// An accumulator that accounts for the values that it returns. A window keeps the values of all of its rows.
#[derive(Debug)]
struct Accounting {
    accumulator: Box<dyn Accumulator>,
    returned: u64,
    held: Held,
}

impl Accounting {
    fn new(accumulator: Box<dyn Accumulator>) -> Self {
        Self { accumulator, returned: 0, held: Held::nothing() }
    }
}

impl Accumulator for Accounting {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        check().map_err(external)?;
        self.accumulator.update_batch(values)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = self.accumulator.evaluate()?;
        self.returned += value.size() as u64;
        self.held.grow_to(self.returned).map_err(external)?;
        Ok(value)
    }

    fn size(&self) -> usize {
        self.accumulator.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.accumulator.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        check().map_err(external)?;
        self.accumulator.merge_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        check().map_err(external)?;
        self.accumulator.retract_batch(values)
    }

    fn supports_retract_batch(&self) -> bool {
        self.accumulator.supports_retract_batch()
    }
}
