//! Aggregates over frames: those that take rows in the order of the window, and those whose values are computed anew for each
//! row.
//!
//! The engine takes values out of an aggregate when they leave the frame. Many aggregates cannot, and sums of
//! floating-point numbers lose what was small. PostgreSQL computes these anew, too.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, SetMonotonicity, Signature,
};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};
use executor::check;
use std::collections::VecDeque;
use std::sync::Arc;
use values::translate::external;

/// The aggregate, computed anew for each frame.
pub fn recomputed(aggregate: Arc<AggregateUDF>) -> AggregateUDF {
    AggregateUDF::new_from_impl(InWindow { aggregate, is_recomputed: true })
}

/// The aggregate, which takes the rows of a window in its order and never backwards.
pub fn in_order(aggregate: Arc<AggregateUDF>) -> AggregateUDF {
    AggregateUDF::new_from_impl(InWindow { aggregate, is_recomputed: false })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct InWindow {
    aggregate: Arc<AggregateUDF>,
    is_recomputed: bool,
}

impl AggregateUDFImpl for InWindow {
    fn name(&self) -> &str {
        self.aggregate.name()
    }

    fn signature(&self) -> &Signature {
        self.aggregate.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.aggregate.return_type(types)
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        self.aggregate.return_field(fields)
    }

    fn is_nullable(&self) -> bool {
        self.aggregate.is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.aggregate.accumulator(args)
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if !self.is_recomputed {
            return self.aggregate.create_sliding_accumulator(args);
        }
        let arguments = Arguments::of(&args);
        let aggregate = Arc::clone(&self.aggregate);
        Ok(Box::new(Moving { aggregate, arguments, frame: VecDeque::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.aggregate.state_fields(args)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.aggregate.coerce_types(types)
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.aggregate.default_value(data_type)
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        match self.is_recomputed {
            true => SetMonotonicity::NotMonotonic,
            false => self.aggregate.inner().set_monotonicity(data_type),
        }
    }
}

/// What an accumulator is made of.
#[derive(Debug)]
pub(crate) struct Arguments {
    return_field: FieldRef,
    schema: Schema,
    expr_fields: Vec<FieldRef>,
    ignore_nulls: bool,
    order_bys: Vec<PhysicalSortExpr>,
    is_reversed: bool,
    name: String,
    is_distinct: bool,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
}

impl Arguments {
    pub(crate) fn of(args: &AccumulatorArgs) -> Self {
        Self {
            return_field: Arc::clone(&args.return_field),
            schema: args.schema.clone(),
            expr_fields: args.expr_fields.to_vec(),
            ignore_nulls: args.ignore_nulls,
            order_bys: args.order_bys.to_vec(),
            is_reversed: args.is_reversed,
            name: args.name.to_owned(),
            is_distinct: args.is_distinct,
            exprs: args.exprs.to_vec(),
        }
    }

    /// Leaves the first arguments, in the order in which they come.
    pub(crate) fn keep(&mut self, count: usize) {
        self.exprs.truncate(count);
        self.expr_fields.truncate(count);
        self.order_bys.clear();
        self.is_distinct = false;
    }

    pub(crate) fn given(&self) -> AccumulatorArgs<'_> {
        AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            expr_fields: &self.expr_fields,
            ignore_nulls: self.ignore_nulls,
            order_bys: &self.order_bys,
            is_reversed: self.is_reversed,
            name: &self.name,
            is_distinct: self.is_distinct,
            exprs: &self.exprs,
        }
    }
}

/// The rows of a frame.
#[derive(Debug)]
struct Moving {
    aggregate: Arc<AggregateUDF>,
    arguments: Arguments,
    /// The arguments in each batch of rows, the oldest first.
    frame: VecDeque<Vec<ArrayRef>>,
}

impl Accumulator for Moving {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if values.first().is_some_and(|column| !column.is_empty()) {
            self.frame.push_back(values.to_vec());
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let mut gone = values.first().map_or(0, |column| column.len());
        while gone > 0 {
            let Some(first) = self.frame.front_mut() else {
                return internal_err!("a frame has fewer rows than leave it");
            };
            let rows = first.first().map_or(0, |column| column.len());
            if rows <= gone {
                self.frame.pop_front();
                gone -= rows;
            } else {
                for column in first {
                    *column = column.slice(gone, rows - gone);
                }
                gone = 0;
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        check().map_err(external)?;
        let mut accumulator = self.aggregate.accumulator(self.arguments.given())?;
        for values in &self.frame {
            accumulator.update_batch(values)?;
        }
        accumulator.evaluate()
    }

    fn size(&self) -> usize {
        let bytes = self.frame.iter().flatten().map(|column| column.get_array_memory_size());
        size_of_val(self) + bytes.sum::<usize>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        internal_err!("an aggregate of a frame has no state to merge")
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        internal_err!("an aggregate of a frame is not merged")
    }
}
