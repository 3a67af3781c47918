//! The values of window functions over the rows of their frames.

use crate::bounds::Frames;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, UInt64Array, new_null_array};
use datafusion::arrow::compute::{filter, interleave, take};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type, Schema};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use executor::check;
use std::ops::Range;
use std::sync::Arc;
use values::error::{Error, SqlState};
use values::translate::external;

/// What is computed of the rows of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Function {
    /// An aggregate.
    Aggregate {
        /// The aggregate.
        function: Arc<AggregateUDF>,
        /// Whether rows can be taken out of it.
        retracts: bool,
    },
    /// The first value.
    First,
    /// The last value.
    Last,
    /// The value of a row. The second argument is its number.
    Nth,
    /// The value of a row before. The second argument is the distance, the third the value where there is no row.
    Lag,
    /// As [`Self::Lag`], of a row behind.
    Lead,
    /// The bucket of a row. The argument is the number of buckets.
    Ntile,
}

/// A call of a function.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: Function,
    pub(crate) data_type: DataType,
    /// The arguments.
    pub(crate) exprs: Vec<Arc<dyn PhysicalExpr>>,
    pub(crate) fields: Vec<FieldRef>,
}

/// The value of each row.
pub(crate) fn of_rows(
    call: &Call,
    arguments: &[ArrayRef],
    filter: Option<&ArrayRef>,
    frames: &Frames,
) -> Result<ArrayRef> {
    let rows = frames.whole.len();
    match (&call.function, arguments) {
        (Function::Aggregate { function, retracts }, _) => {
            aggregated(call, (function, *retracts), arguments, filter, frames)
        }
        (Function::First, [values, ..]) => picked(values, frames, |_| Ok(Pick::First(0))),
        (Function::Last, [values, ..]) => picked(values, frames, |_| Ok(Pick::Last)),
        (Function::Nth, [values, numbers, ..]) => {
            let numbers = numbers.as_primitive::<Int64Type>();
            picked(values, frames, |row| match numbers.is_null(row) {
                true => Ok(Pick::None),
                false => {
                    positive(numbers.value(row), "nth_value", SqlState::InvalidNthValueArgument)
                        .map(|number| Pick::First(number - 1))
                }
            })
        }
        (Function::Lag, [values, others @ ..]) => shifted(values, others, rows, -1),
        (Function::Lead, [values, others @ ..]) => shifted(values, others, rows, 1),
        (Function::Ntile, [buckets]) => ntile(buckets, rows),
        _ => internal_err!("a window function lacks arguments"),
    }
}

/// A number that must be positive, from 1.
fn positive(number: i64, name: &str, state: SqlState) -> Result<usize> {
    match usize::try_from(number) {
        Ok(number) if number > 0 => Ok(number),
        _ => {
            let message = format!("argument of {name} must be greater than zero");
            Err(external(Error::new(state, message)))
        }
    }
}

/// A row of a frame.
enum Pick {
    /// The one behind this many.
    First(usize),
    Last,
    None,
}

/// The values of rows of the frames.
fn picked(
    values: &ArrayRef,
    frames: &Frames,
    pick: impl Fn(usize) -> Result<Pick>,
) -> Result<ArrayRef> {
    let mut places = Vec::with_capacity(frames.whole.len());
    for row in 0..frames.whole.len() {
        let parts = frames.parts(row);
        let place = match pick(row)? {
            Pick::None => None,
            Pick::Last => parts.iter().rev().find(|part| !part.is_empty()).map(|part| part.end - 1),
            Pick::First(before) => {
                let mut before = before;
                parts.iter().find_map(|part| match part.len() {
                    length if before < length => Some(part.start + before),
                    length => {
                        before -= length;
                        None
                    }
                })
            }
        };
        places.push(place.map(|place| place as u64));
    }
    Ok(take(values, &UInt64Array::from(places), None)?)
}

/// The values of the rows at a distance, 1 without one; where there is no such row, the default of the row itself.
fn shifted(
    values: &ArrayRef,
    others: &[ArrayRef],
    rows: usize,
    direction: i64,
) -> Result<ArrayRef> {
    let nulls = new_null_array(values.data_type(), 1);
    let defaults = others.get(1);
    let distances = others.first().map(|column| column.as_primitive::<Int64Type>());
    let sources = [&**values, defaults.map_or(&*nulls, |defaults| &**defaults), &*nulls];
    let place = |row: usize| {
        let distance = match distances {
            Some(distances) if distances.is_null(row) => return (2, 0),
            Some(distances) => distances.value(row),
            None => 1,
        };
        let target = distance.checked_mul(direction).and_then(|by| (row as i64).checked_add(by));
        match target.and_then(|target| usize::try_from(target).ok()).filter(|row| *row < rows) {
            Some(target) => (0, target),
            None => (1, if defaults.is_some() { row } else { 0 }),
        }
    };
    let places: Vec<(usize, usize)> = (0..rows).map(place).collect();
    Ok(interleave(&sources, &places)?)
}

/// The bucket of each row. The first row has the number of buckets.
fn ntile(buckets: &ArrayRef, rows: usize) -> Result<ArrayRef> {
    let buckets = buckets.as_primitive::<Int64Type>();
    if rows == 0 || buckets.is_null(0) {
        return Ok(Arc::new(Int32Array::new_null(rows)));
    }
    let buckets = positive(buckets.value(0), "ntile", SqlState::InvalidNtileArgument)?;
    let (size, larger) = (rows / buckets, rows % buckets);
    let of_row = |row: usize| match row < larger * (size + 1) {
        true => row / (size + 1) + 1,
        false => larger + (row - larger * (size + 1)) / size.max(1) + 1,
    };
    let numbers = (0..rows).map(|row| i32::try_from(of_row(row)).unwrap_or(i32::MAX));
    Ok(Arc::new(Int32Array::from_iter_values(numbers)))
}

/// The values of an aggregate.
fn aggregated(
    call: &Call,
    (function, retracts): (&Arc<AggregateUDF>, bool),
    arguments: &[ArrayRef],
    condition: Option<&ArrayRef>,
    frames: &Frames,
) -> Result<ArrayRef> {
    let (arguments, before) = match condition {
        None => (arguments.to_vec(), None),
        Some(condition) => {
            let condition = condition.as_boolean();
            let kept = arguments.iter().map(|column| filter(column, condition));
            let mut count = 0;
            let mut before = Vec::with_capacity(condition.len() + 1);
            before.push(0);
            for row in 0..condition.len() {
                count += usize::from(condition.is_valid(row) && condition.value(row));
                before.push(count);
            }
            (kept.collect::<std::result::Result<Vec<_>, _>>()?, Some(before))
        }
    };
    let among_kept = |part: Range<usize>| match &before {
        None => part,
        Some(before) => before[part.start]..before[part.end],
    };
    let aggregate = Aggregate::of(call, function);
    let mut values = Vec::with_capacity(frames.whole.len());
    let mut moving = Moving { running: None, seen: 0..0, retracts };
    for row in 0..frames.whole.len() {
        values.push(match frames.have_parts() {
            true => aggregate.of_parts(&arguments, frames.parts(row).map(among_kept))?,
            false => moving.at(&aggregate, &arguments, among_kept(frames.whole[row].clone()))?,
        });
    }
    match values.is_empty() {
        true => Ok(new_null_array(&call.data_type, 0)),
        false => ScalarValue::iter_to_array(values),
    }
}

/// What accumulators are made of.
struct Aggregate<'a> {
    function: &'a AggregateUDF,
    call: &'a Call,
    schema: Schema,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
}

impl<'a> Aggregate<'a> {
    fn of(call: &'a Call, function: &'a AggregateUDF) -> Self {
        let fields = call.fields.iter().enumerate();
        let fields = fields.map(|(at, field)| Field::clone(field).with_name(format!("c{at}")));
        let schema = Schema::new(fields.collect::<Vec<_>>());
        let exprs = call.exprs.iter().enumerate().map(|(at, expr)| match expr.is::<Literal>() {
            true => Arc::clone(expr),
            false => Arc::new(Column::new(&format!("c{at}"), at)) as Arc<dyn PhysicalExpr>,
        });
        let exprs = exprs.collect();
        Self { function, call, schema, exprs }
    }

    fn accumulator(&self, slides: bool) -> Result<Box<dyn Accumulator>> {
        let data_type = self.call.data_type.clone();
        let args = AccumulatorArgs {
            return_field: Arc::new(Field::new(self.function.name(), data_type, true)),
            schema: &self.schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: self.function.name(),
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.call.fields,
        };
        match slides {
            true => self.function.create_sliding_accumulator(args),
            false => self.function.accumulator(args),
        }
    }

    fn of_parts(&self, arguments: &[ArrayRef], parts: [Range<usize>; 3]) -> Result<ScalarValue> {
        check().map_err(external)?;
        let mut accumulator = self.accumulator(false)?;
        for part in parts.into_iter().filter(|part| !part.is_empty()) {
            accumulator.update_batch(&slices(arguments, part))?;
        }
        accumulator.evaluate()
    }
}

fn slices(arguments: &[ArrayRef], part: Range<usize>) -> Vec<ArrayRef> {
    arguments.iter().map(|column| column.slice(part.start, part.len())).collect()
}

/// The aggregate of the frame before, to which rows are added and of which rows are taken.
struct Moving {
    running: Option<Box<dyn Accumulator>>,
    /// The rows in it.
    seen: Range<usize>,
    retracts: bool,
}

impl Moving {
    fn at(
        &mut self,
        aggregate: &Aggregate<'_>,
        arguments: &[ArrayRef],
        rows: Range<usize>,
    ) -> Result<ScalarValue> {
        check().map_err(external)?;
        let grows = rows.start == self.seen.start && rows.end >= self.seen.end;
        let moves = self.retracts
            && rows.start >= self.seen.start
            && rows.start <= self.seen.end
            && rows.end >= self.seen.end;
        let mut running = match self.running.take().filter(|_| grows || moves) {
            Some(running) => running,
            None => {
                self.seen = rows.start..rows.start;
                aggregate.accumulator(self.retracts)?
            }
        };
        if rows.end > self.seen.end {
            running.update_batch(&slices(arguments, self.seen.end..rows.end))?;
        }
        if rows.start > self.seen.start {
            running.retract_batch(&slices(arguments, self.seen.start..rows.start))?;
        }
        let value = running.evaluate()?;
        self.running = Some(running);
        self.seen = rows;
        Ok(value)
    }
}
