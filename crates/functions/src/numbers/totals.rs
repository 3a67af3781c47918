//! The aggregate behind `sum`, `avg` and variances of numerics that have a scale each.
//!
//! It returns the totals of a group as bytes ([`numerics::Totals`]), from which the functions of [`super::open`] compute
//! values. Totals of parts of a group can be merged, so owners of rows send totals only.

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility,
};
use numerics::{Numeric, Totals};
use std::collections::BTreeMap;
use std::sync::Arc;
use values::error::{Error, SqlState};
use values::numbers::{Found, Numbers, bytes_of};
use values::translate::external;

/// The names of the aggregates of numbers: without and with the squares that variances need.
pub const TOTALS: [&str; 2] = ["numeric_totals", "numeric_totals_with_squares"];

/// The names of the aggregates of distinct numbers, in the same order. The engine would take equal numbers of different scales
/// for different ones.
pub const DISTINCT_TOTALS: [&str; 2] =
    ["numeric_distinct_totals", "numeric_distinct_totals_with_squares"];

/// The Arrow type of totals.
pub(super) const STATE: DataType = DataType::BinaryView;

/// The aggregates.
pub(crate) fn all() -> [AggregateUDF; 4] {
    let kinds = [(false, false), (true, false), (false, true), (true, true)];
    kinds.map(|(has_squares, is_distinct)| {
        let signature = Signature::any(1, Volatility::Immutable);
        AggregateUDF::new_from_impl(OfNumbers { has_squares, is_distinct, signature })
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfNumbers {
    has_squares: bool,
    is_distinct: bool,
    signature: Signature,
}

impl AggregateUDFImpl for OfNumbers {
    fn name(&self) -> &str {
        let names = if self.is_distinct { DISTINCT_TOTALS } else { TOTALS };
        names[usize::from(self.has_squares)]
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(STATE)
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(match self.is_distinct {
            true => Box::new(Distinct { has_squares: self.has_squares, ..Distinct::default() }),
            false => Box::new(All(Totals::new(self.has_squares))),
        })
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format!("{}[state]", args.name);
        let of = match self.is_distinct {
            true => DataType::List(Arc::new(Field::new_list_field(STATE, true))),
            false => STATE,
        };
        Ok(vec![Arc::new(Field::new(name, of, true))])
    }
}

/// The numbers of an array that are not NULL.
fn each(array: &ArrayRef, mut take: impl FnMut(Found)) -> Result<()> {
    let numbers = Numbers::new(array).map_err(external)?;
    let nulls = array.logical_nulls();
    for row in 0..array.len() {
        if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            take(numbers.found(row).map_err(external)?);
        }
    }
    Ok(())
}

fn number(found: Found) -> Numeric {
    match found {
        Found::Small(coefficient, scale) => Numeric::from_i128(coefficient, scale),
        Found::Number(number) => number,
    }
}

fn written(totals: &Totals) -> ScalarValue {
    let mut bytes = Vec::with_capacity(48);
    totals.encode(&mut bytes);
    ScalarValue::BinaryView(Some(bytes))
}

fn damaged() -> datafusion::common::DataFusionError {
    external(Error::new(SqlState::DataCorrupted, "totals are damaged"))
}

/// All numbers of a group.
#[derive(Debug)]
struct All(Totals);

impl Accumulator for All {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        each(&values[0], |found| match found {
            Found::Small(coefficient, scale) => self.0.add_i128(coefficient, scale),
            Found::Number(number) => self.0.add(&number),
        })
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        each(&values[0], |found| self.0.remove(&number(found)))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states[0].as_binary_view().iter().flatten() {
            self.0.merge(&Totals::decode(state).map_err(|_| damaged())?);
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(written(&self.0))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![written(&self.0)])
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.0.memory()
    }
}

/// The distinct numbers of a group, by their keys. Of equal ones the first counts.
#[derive(Debug, Default)]
struct Distinct {
    has_squares: bool,
    numbers: BTreeMap<Box<[u8]>, Box<[u8]>>,
    bytes: usize,
}

/// The bytes of an entry of a map, without its values.
const ENTRY: usize = 48;

impl Distinct {
    fn take(&mut self, bytes: Vec<u8>) {
        let key = Numeric::key_of(&bytes);
        if !self.numbers.contains_key(key) {
            self.bytes += key.len() + bytes.len() + ENTRY;
            self.numbers.insert(key.into(), bytes.into());
        }
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        each(&values[0], |found| self.take(bytes_of(&number(found))))
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for list in states[0].as_list::<i32>().iter().flatten() {
            list.as_binary_view().iter().flatten().for_each(|bytes| self.take(bytes.to_vec()));
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut totals = Totals::new(self.has_squares);
        for bytes in self.numbers.values() {
            totals.add(&Numeric::decode(bytes).map_err(|_| damaged())?);
        }
        Ok(written(&totals))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut items = BinaryViewBuilder::with_capacity(self.numbers.len());
        self.numbers.values().for_each(|bytes| items.append_value(bytes));
        let items: ArrayRef = Arc::new(items.finish());
        Ok(vec![ScalarValue::List(Arc::new(
            datafusion::common::utils::SingleRowListArrayBuilder::new(items).build_list_array(),
        ))])
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes
    }
}
