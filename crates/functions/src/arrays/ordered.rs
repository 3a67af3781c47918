//! Aggregates of ordered values: percentiles, the mode, joined bytes, arrays of arrays. The values are an array without NULL,
//! in order.

use crate::datetime::intervals;
use crate::numbers::open::comparable;
use columnar::{Types, function};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewBuilder, Float64Array, IntervalMonthDayNanoArray,
    ListArray, UInt64Array, make_comparator,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::{SortOptions, take};
use datafusion::arrow::datatypes::{
    DataType, Field, Float32Type, Float64Type, IntervalMonthDayNanoType,
};
use datafusion::logical_expr::ScalarUDF;
use std::ops::Range;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};

/// The functions of this file, which aggregates call.
pub(super) fn all() -> Vec<ScalarUDF> {
    let item: Types = |types| match types {
        [list @ DataType::List(item)] => Ok((vec![list.clone()], item.data_type().clone())),
        _ => Err(no_array()),
    };
    let percentile: Types = |types| match types {
        [list @ DataType::List(item), DataType::List(_)] => {
            let fractions = list_of(DataType::Float64);
            Ok((vec![list.clone(), fractions], list_of(item.data_type().clone())))
        }
        [list @ DataType::List(item), _] => {
            Ok((vec![list.clone(), DataType::Float64], item.data_type().clone()))
        }
        _ => Err(no_array()),
    };
    let bytes: Types = |types| {
        let (bytes, list) = (DataType::BinaryView, list_of(DataType::BinaryView));
        let between = match types {
            [_, DataType::List(_)] => list.clone(),
            _ => bytes.clone(),
        };
        Ok((vec![list, between], bytes))
    };
    vec![
        function("ordered_mode", item, mode),
        function("ordered_discrete", percentile, |args| percentiles(args, discrete)),
        function("ordered_continuous", percentile, |args| percentiles(args, continuous)),
        function("ordered_bytes", bytes, joined),
        function("array_of_arrays", |types| Ok((types.to_vec(), types[0].clone())), nested),
    ]
}

fn no_array() -> Error {
    Error::unsupported("an aggregate of ordered values takes an array")
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// The places of the items of a row; `None` for NULL and without items.
fn items(lists: &ListArray, row: usize) -> Option<Range<usize>> {
    let offsets = lists.value_offsets();
    let range = offsets[row] as usize..offsets[row + 1] as usize;
    (lists.is_valid(row) && !range.is_empty()).then_some(range)
}

/// Arrays of arrays as they are, if the arrays in each have the same dimensions.
fn nested(args: &[ArrayRef]) -> Result<ArrayRef> {
    let refuse = |state, message: &str| Err(Error::new(state, message));
    let lists = args[0].as_list::<i32>();
    for row in (0..lists.len()).filter(|row| lists.is_valid(*row)) {
        let arrays = lists.value(row);
        let arrays = arrays.as_list::<i32>();
        let mut of_first = None;
        for array in arrays.iter() {
            let Some(array) = array else {
                return refuse(SqlState::NullValueNotAllowed, "cannot accumulate null arrays");
            };
            if array.is_empty() {
                return refuse(SqlState::ArraySubscriptError, "cannot accumulate empty arrays");
            }
            let dimensions = dimensions(&array);
            if *of_first.get_or_insert_with(|| dimensions.clone()) != dimensions {
                let message = "cannot accumulate arrays of different dimensionality";
                return refuse(SqlState::ArraySubscriptError, message);
            }
        }
    }
    Ok(Arc::clone(&args[0]))
}

/// The lengths of an array and of the arrays in it.
fn dimensions(array: &ArrayRef) -> Vec<usize> {
    let mut lengths = vec![array.len()];
    let mut inner = Arc::clone(array);
    while let Some(list) = inner.as_list_opt::<i32>().filter(|list| !list.is_empty()) {
        let first = list.value(0);
        lengths.push(first.len());
        inner = first;
    }
    lengths
}

/// The first of the most frequent items.
fn mode(args: &[ArrayRef]) -> Result<ArrayRef> {
    let lists = args[0].as_list::<i32>();
    let all = with_one_zero(&comparable(lists.values())?);
    let compare = make_comparator(&all, &all, SortOptions::default())?;
    let found = (0..lists.len()).map(|row| {
        let all = items(lists, row)?;
        let (mut best, mut most, mut first) = (all.start, 0, all.start);
        for at in all {
            if compare(first, at).is_ne() {
                first = at;
            }
            let count = at - first + 1;
            if count > most {
                (best, most) = (first, count);
            }
        }
        Some(best as u64)
    });
    Ok(take(lists.values(), &found.collect::<UInt64Array>(), None)?)
}

/// Floating-point numbers without -0, which is equal to 0. Other values are unchanged.
fn with_one_zero(values: &ArrayRef) -> ArrayRef {
    match values.data_type() {
        DataType::Float32 => {
            let values = values.as_primitive::<Float32Type>();
            Arc::new(values.unary::<_, Float32Type>(|value| value + 0.0))
        }
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>();
            Arc::new(values.unary::<_, Float64Type>(|value| value + 0.0))
        }
        _ => Arc::clone(values),
    }
}

/// How an item is made of the places of some values and a fraction: two places, and the part of the way between them.
type Place = fn(Range<usize>, f64) -> (usize, usize, f64);

/// The item at which at least a fraction of all is reached.
fn discrete(all: Range<usize>, fraction: f64) -> (usize, usize, f64) {
    let number = (fraction * all.len() as f64).ceil().max(1.0) as usize;
    let place = all.start + number - 1;
    (place, place, 0.0)
}

/// The place of a fraction between two items.
fn continuous(all: Range<usize>, fraction: f64) -> (usize, usize, f64) {
    let place = fraction * (all.len() - 1) as f64;
    let (below, above) = (place.floor(), place.ceil());
    (all.start + below as usize, all.start + above as usize, place - below)
}

fn percentiles(args: &[ArrayRef], place: Place) -> Result<ArrayRef> {
    let lists = args[0].as_list::<i32>();
    let Some(fractions) = args[1].as_list_opt::<i32>() else {
        let fractions = args[1].as_primitive::<Float64Type>().iter();
        let places = fractions
            .enumerate()
            .map(|(row, fraction)| place_at(fraction, items(lists, row), place));
        return items_at(lists.values(), places.collect::<Result<_>>()?);
    };
    let (mut places, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..lists.len() {
        let all = items(lists, row).filter(|_| fractions.is_valid(row));
        valid.push(all.is_some());
        let Some(all) = all else {
            lengths.push(0);
            continue;
        };
        let wanted = fractions.value(row);
        let wanted = wanted.as_primitive::<Float64Type>();
        lengths.push(wanted.len());
        for fraction in wanted {
            places.push(place_at(fraction, Some(all.clone()), place)?);
        }
    }
    let found = items_at(lists.values(), places)?;
    let field = Arc::new(Field::new_list_field(found.data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(field, offsets, found, Some(NullBuffer::from(valid)))?))
}

fn place_at(
    fraction: Option<f64>,
    all: Option<Range<usize>>,
    place: Place,
) -> Result<Option<(usize, usize, f64)>> {
    let Some(fraction) = fraction else { return Ok(None) };
    if !(0.0..=1.0).contains(&fraction) {
        let message = format!("percentile value {fraction} is not between 0 and 1");
        return Err(Error::new(SqlState::NumericValueOutOfRange, message));
    }
    Ok(all.map(|all| place(all, fraction)))
}

/// The items at places; only numbers and intervals are between two.
fn items_at(values: &ArrayRef, places: Vec<Option<(usize, usize, f64)>>) -> Result<ArrayRef> {
    if let Some(all) = values.as_primitive_opt::<IntervalMonthDayNanoType>() {
        let found = places.into_iter().map(|place| match place {
            Some((below, above, way)) if way > 0.0 => {
                intervals::between(all.value(below), all.value(above), way).map(Some)
            }
            place => Ok(place.map(|(at, ..)| all.value(at))),
        });
        return Ok(Arc::new(found.collect::<Result<IntervalMonthDayNanoArray>>()?));
    }
    let Some(numbers) = values.as_primitive_opt::<Float64Type>() else {
        let places = places.into_iter().map(|place| Some(place?.0 as u64));
        return Ok(take(values, &places.collect::<UInt64Array>(), None)?);
    };
    let found = places.into_iter().map(|place| {
        let (below, above, way) = place?;
        let (below, above) = (numbers.value(below), numbers.value(above));
        Some(if way == 0.0 { below } else { below + way * (above - below) })
    });
    Ok(Arc::new(found.collect::<Float64Array>()))
}

/// Bytes with others between them, without NULL: with the same for a row, or with those of a list, of which each stands in front
/// of its value.
fn joined(args: &[ArrayRef]) -> Result<ArrayRef> {
    let lists = args[0].as_list::<i32>();
    let values = lists.values().as_binary_view();
    let of_values = args[1].as_list_opt::<i32>();
    let between = of_values.map_or(&args[1], |lists| lists.values()).as_binary_view();
    let mut all = BinaryViewBuilder::with_capacity(lists.len());
    for row in 0..lists.len() {
        let Some(range) = items(lists, row) else {
            all.append_null();
            continue;
        };
        let first = range.start;
        let place = |at: usize| match of_values {
            Some(lists) => lists.value_offsets()[row] as usize + (at - first),
            None => row,
        };
        let mut bytes: Option<Vec<u8>> = None;
        for at in range.filter(|at| values.is_valid(*at)) {
            let bytes = match &mut bytes {
                Some(bytes) => {
                    let place = place(at);
                    if between.is_valid(place) {
                        bytes.extend_from_slice(between.value(place));
                    }
                    bytes
                }
                None => bytes.insert(Vec::new()),
            };
            bytes.extend_from_slice(values.value(at));
            crate::limits::check_length(bytes.len() as u64)?;
        }
        all.append_option(bytes);
    }
    Ok(Arc::new(all.finish()))
}
