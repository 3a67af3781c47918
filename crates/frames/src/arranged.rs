//! Aggregates that sort their rows themselves.
//!
//! The engine sorts the rows of a SELECT once, so that all of its aggregates take them in one order. An aggregate in
//! another order has the keys as further arguments, keeps all rows, and sorts them in the end.

use crate::moving::Arguments;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use datafusion::arrow::compute::{
    SortColumn, SortOptions, concat, lexsort_to_indices, partition, take,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::utils::SingleRowListArrayBuilder;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::Sort;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// An aggregate of a number of arguments, whose rows are sorted by the arguments behind them.
pub fn sorted(
    aggregate: Arc<AggregateUDF>,
    arguments: usize,
    order: &[Sort],
    distinct: bool,
) -> AggregateUDF {
    let name = format!("{} in order", aggregate.name());
    let options = order.iter().map(|key| (!key.asc, key.nulls_first)).collect();
    let signature = Signature::variadic_any(Volatility::Immutable);
    let arranged = Arranged { name, aggregate, arguments, options, distinct, signature };
    AggregateUDF::new_from_impl(arranged)
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Arranged {
    name: String,
    aggregate: Arc<AggregateUDF>,
    arguments: usize,
    /// Of each key, whether it is sorted downwards, and whether NULL comes first.
    options: Vec<(bool, bool)>,
    /// Whether equal arguments count once.
    distinct: bool,
    signature: Signature,
}

impl AggregateUDFImpl for Arranged {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.aggregate.return_type(&types[..self.arguments])
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        self.aggregate.return_field(&fields[..self.arguments])
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let mut arguments = Arguments::of(&args);
        arguments.keep(self.arguments);
        let types = args.expr_fields.iter().map(|field| field.data_type().clone()).collect();
        let columns = vec![Vec::new(); args.exprs.len()];
        Ok(Box::new(Rows { of: self.clone(), arguments, types, columns }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let fields = args.input_fields.iter().enumerate();
        let fields = fields.map(|(at, field)| {
            let item = Field::new_list_field(field.data_type().clone(), true);
            let list = DataType::List(Arc::new(item));
            Arc::new(Field::new(format!("{}[{at}]", args.name), list, true))
        });
        Ok(fields.collect())
    }
}

/// The rows of a group.
#[derive(Debug)]
struct Rows {
    of: Arranged,
    arguments: Arguments,
    /// The types of the arguments and keys.
    types: Vec<DataType>,
    /// The batches of each argument and key.
    columns: Vec<Vec<ArrayRef>>,
}

impl Rows {
    /// Each argument and key in one piece.
    fn whole(&self) -> Result<Option<Vec<ArrayRef>>> {
        if self.columns.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let columns = self.columns.iter().map(|batches| {
            let batches: Vec<&dyn Array> = batches.iter().map(|batch| &**batch).collect();
            Ok(concat(&batches)?)
        });
        columns.collect::<Result<_>>().map(Some)
    }

    /// The arguments in their order.
    fn sorted(&self, columns: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        let (arguments, keys) = columns.split_at(self.of.arguments);
        if keys.is_empty() {
            return Ok(arguments.to_vec());
        }
        let keys = keys.iter().zip(&self.of.options);
        let keys: Vec<SortColumn> = keys
            .map(|(values, (descending, nulls_first))| SortColumn {
                values: Arc::clone(values),
                options: Some(SortOptions { descending: *descending, nulls_first: *nulls_first }),
            })
            .collect();
        let places = lexsort_to_indices(&keys, None)?;
        let places = match self.of.distinct {
            true => first_ones(&keys, &places)?,
            false => places,
        };
        arguments.iter().map(|column| Ok(take(column, &places, None)?)).collect()
    }
}

/// The first places of those with equal keys.
fn first_ones(keys: &[SortColumn], places: &UInt32Array) -> Result<UInt32Array> {
    let sorted = keys.iter().map(|key| take(&key.values, places, None));
    let sorted = sorted.collect::<std::result::Result<Vec<_>, _>>()?;
    let ranges = partition(&sorted)?.ranges();
    Ok(ranges.into_iter().map(|range| places.value(range.start)).collect::<Vec<u32>>().into())
}

impl Accumulator for Rows {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for (column, batch) in self.columns.iter_mut().zip(values) {
            column.push(Arc::clone(batch));
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut accumulator = self.of.aggregate.accumulator(self.arguments.given())?;
        if let Some(columns) = self.whole()? {
            accumulator.update_batch(&self.sorted(&columns)?)?;
        }
        accumulator.evaluate()
    }

    fn size(&self) -> usize {
        let bytes = self.columns.iter().flatten().map(|column| column.get_array_memory_size());
        size_of_val(self) + bytes.sum::<usize>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        match self.whole()? {
            Some(columns) => Ok(columns
                .into_iter()
                .map(|column| SingleRowListArrayBuilder::new(column).build_list_scalar())
                .collect()),
            None => {
                let lists = self.types.iter().map(|data_type| {
                    let item = Arc::new(Field::new_list_field(data_type.clone(), true));
                    ScalarValue::try_new_null(&DataType::List(item))
                });
                lists.collect()
            }
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for (column, lists) in self.columns.iter_mut().zip(states) {
            column.extend(lists.as_list::<i32>().iter().flatten());
        }
        Ok(())
    }
}
