//! The bounds of frames by RANGE: their offsets, and times of day and numbers at an offset.

use super::intervals::{INTERVAL, nanos};
use columnar::{Types, function};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Time64MicrosecondArray};
use datafusion::arrow::datatypes::{
    DataType, Float64Type, IntervalMonthDayNanoType, Time64MicrosecondType, TimeUnit,
};
use datafusion::logical_expr::ScalarUDF;
use std::sync::Arc;
use values::error::{Error, Result, SqlState};
use values::numbers::Numbers;

/// The functions of an offset and the key of its row that return the offset, of the first and of the last row of a frame.
///
/// They refuse offsets that are NULL, and negative ones where there is a key.
pub const RANGE_OFFSETS: [&str; 2] = ["range_starting_offset", "range_ending_offset"];

/// The functions of a time of day and an interval that return the time that much earlier, and later, and of a number and
/// another one that return their difference, and their sum.
///
/// Unlike other such times, it may lie in front of the day or behind it. All numbers are within an infinite distance of any.
pub const RANGE_BOUNDS: [&str; 2] = ["range_bound_below", "range_bound_above"];

const TIME: DataType = DataType::Time64(TimeUnit::Microsecond);
const NANOS_PER_MICRO: i64 = 1000;

/// The functions.
pub(crate) fn all() -> [ScalarUDF; 4] {
    let offset: Types = |types| match types {
        [offset, key] => Ok((vec![offset.clone(), key.clone()], offset.clone())),
        _ => Err(Error::unsupported("an offset of RANGE lacks its key")),
    };
    let bound: Types = |types| match types {
        [DataType::Float64, _] => Ok((vec![DataType::Float64; 2], DataType::Float64)),
        _ => Ok((vec![TIME, INTERVAL], TIME)),
    };
    let [starting, ending] = RANGE_OFFSETS;
    let [below, above] = RANGE_BOUNDS;
    [
        function(starting, offset, |args| checked(args, "starting")),
        function(ending, offset, |args| checked(args, "ending")),
        function(below, bound, |args| match args[0].data_type() {
            DataType::Float64 => Ok(numbers(args, -1.0)),
            _ => Ok(times(args, i64::saturating_sub)),
        }),
        function(above, bound, |args| match args[0].data_type() {
            DataType::Float64 => Ok(numbers(args, 1.0)),
            _ => Ok(times(args, i64::saturating_add)),
        }),
    ]
}

fn checked(args: &[ArrayRef], which: &str) -> Result<ArrayRef> {
    let (offsets, keys) = (&args[0], &args[1]);
    if offsets.logical_null_count() > 0 {
        let message = format!("frame {which} offset must not be null");
        return Err(Error::new(SqlState::NullValueNotAllowed, message));
    }
    let known = keys.logical_nulls();
    let has_key = |row: usize| known.as_ref().is_none_or(|known| known.is_valid(row));
    for row in (0..keys.len()).filter(|row| has_key(*row)) {
        if is_negative(offsets, row, keys.data_type())? {
            let message = "invalid preceding or following size in window function";
            return Err(Error::new(SqlState::InvalidPrecedingOrFollowingSize, message));
        }
    }
    Ok(Arc::clone(offsets))
}

/// Whether an offset is less than nothing. Of an interval around a time of day only the time counts.
fn is_negative(offsets: &ArrayRef, row: usize, key: &DataType) -> Result<bool> {
    if let Some(intervals) = offsets.as_primitive_opt::<IntervalMonthDayNanoType>() {
        let interval = intervals.value(row);
        return Ok(match *key == TIME {
            true => interval.nanoseconds < 0,
            false => nanos(interval) < 0,
        });
    }
    let number = Numbers::new(offsets)?.number(row)?;
    Ok(number.is_negative() || number.is_nan())
}

fn times(args: &[ArrayRef], moved: fn(i64, i64) -> i64) -> ArrayRef {
    let times = args[0].as_primitive::<Time64MicrosecondType>().iter();
    let intervals = args[1].as_primitive::<IntervalMonthDayNanoType>();
    let bounds = times
        .zip(intervals)
        .map(|(time, interval)| Some(moved(time?, interval?.nanoseconds / NANOS_PER_MICRO)));
    Arc::new(bounds.collect::<Time64MicrosecondArray>())
}

fn numbers(args: &[ArrayRef], sign: f64) -> ArrayRef {
    let keys = args[0].as_primitive::<Float64Type>().iter();
    let offsets = args[1].as_primitive::<Float64Type>();
    let bounds = keys.zip(offsets).map(|(key, offset)| Some(key? + sign * offset?));
    Arc::new(bounds.collect::<Float64Array>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{Int32Array, IntervalMonthDayNanoArray};
    use datafusion::arrow::datatypes::IntervalMonthDayNano;

    fn array(of: impl Array + 'static) -> ArrayRef {
        Arc::new(of)
    }

    #[test]
    fn offsets_are_not_negative_where_there_is_a_key() {
        let keys = array(Int32Array::from(vec![Some(1), None]));
        let refused = |offsets: ArrayRef| {
            checked(&[offsets, Arc::clone(&keys)], "starting").map_err(|error| error.state()).err()
        };
        assert_eq!(refused(array(Int32Array::from(vec![0, -1]))), None);
        let too_low = Some(SqlState::InvalidPrecedingOrFollowingSize);
        assert_eq!(refused(array(Int32Array::from(vec![-1, 0]))), too_low);
        assert_eq!(refused(array(Float64Array::from(vec![f64::NAN, 0.0]))), too_low);
        let null = Some(SqlState::NullValueNotAllowed);
        assert_eq!(refused(array(Int32Array::from(vec![Some(1), None]))), null);
    }

    #[test]
    fn only_the_time_of_an_interval_moves_a_time() {
        let interval = IntervalMonthDayNano::new(0, -1, 3_600_000_000_000);
        let intervals = array(IntervalMonthDayNanoArray::from(vec![interval]));
        let times_of_day = array(Time64MicrosecondArray::from(vec![1]));
        let both = [Arc::clone(&times_of_day), Arc::clone(&intervals)];
        let below = times(&both, i64::saturating_sub);
        assert_eq!(below.as_primitive::<Time64MicrosecondType>().value(0), 1 - 3_600_000_000);
        checked(&[Arc::clone(&intervals), times_of_day], "ending").expect("an hour");
        let days = array(Int32Array::from(vec![1]));
        checked(&[intervals, days], "ending").expect_err("less than nothing");
    }
}
