//! `generate_series`: a series of numbers or timestamps.
//!
//! In FROM it is a table whose rows are generated when they are read ([`generated`](super::generated)). If its
//! arguments come from other tables it is a function that returns an array.

use crate::datetime::intervals::INTERVAL;
use crate::datetime::local::plus;
use columnar::function;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Int64Array, ListArray, TimestampMicrosecondArray,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::{cast, concat};
use datafusion::arrow::datatypes::{
    DataType, Decimal128Type, Field, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    TimestampMicrosecondType,
};
use datafusion::logical_expr::ScalarUDF;
use executor::{Held, check};
use numerics::Numeric;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::{Error, Result, SqlState};
use values::moments::is_infinite;
use values::numbers::{Numbers, OPEN, collect, is_open, opened};
use values::types::of_arrow;
use values::zone::Zone;

/// The name of the function that returns the series as an array.
pub const SERIES: &str = "series";

/// Bytes of a value while an array is made: it is generated, and then converted.
const VALUE_BYTES: u64 = 24;

/// Values after which a statement that has to end does so.
const CHECKED: usize = 65_536;

const MICROS_PER_DAY: i128 = 86_400_000_000;

/// The function [`SERIES`].
pub(super) fn as_array() -> ScalarUDF {
    function(SERIES, list_types, lists)
}

/// The type of the values of a series, for the types of its arguments; `None` is NULL or an unknown type.
///
/// # Errors
/// 42883: `generate_series` does not exist for these types.
pub fn item_type(arguments: &[Option<DataType>]) -> Result<DataType> {
    let known: Vec<SqlType> = arguments.iter().take(2).flatten().map(of_arrow).collect();
    let is = |wanted: fn(&SqlType) -> bool| known.iter().any(wanted);
    let item = if is(|t| matches!(t, SqlType::TimestampTz | SqlType::Date)) {
        SqlType::TimestampTz
    } else if is(|t| *t == SqlType::Timestamp) {
        SqlType::Timestamp
    } else if is(|t| matches!(t, SqlType::Numeric { .. })) {
        // The first value has the digits of the start, the others also those of the step.
        let scales = arguments.iter().map(|argument| match argument {
            Some(DataType::Decimal128(_, scale)) => Some(*scale),
            Some(open) if is_open(open) => None,
            _ => Some(0),
        });
        let scales: Option<Vec<i8>> = scales.collect();
        let first = scales.as_ref().and_then(|scales| scales.first().copied());
        let first = first.filter(|first| scales.iter().flatten().all(|scale| scale <= first));
        return Ok(first.map_or(OPEN, |scale| DataType::Decimal128(38, scale)));
    } else if arguments.iter().flatten().any(|data_type| *data_type == DataType::Int64) {
        SqlType::BigInt
    } else {
        SqlType::Integer
    };
    let fits = |sql_type: &SqlType| match item {
        SqlType::Timestamp | SqlType::TimestampTz => {
            matches!(
                sql_type,
                SqlType::Timestamp | SqlType::TimestampTz | SqlType::Date | SqlType::Text
            )
        }
        _ => matches!(
            sql_type,
            SqlType::SmallInt | SqlType::Integer | SqlType::BigInt | SqlType::Text
        ),
    };
    let needs_step = matches!(item, SqlType::Timestamp | SqlType::TimestampTz);
    if !(2..=3).contains(&arguments.len())
        || needs_step && arguments.len() != 3
        || !known.iter().all(fits)
    {
        let names = arguments.iter().map(|known| match known {
            Some(known) => of_arrow(known).to_string(),
            None => "unknown".to_owned(),
        });
        let names = names.collect::<Vec<_>>().join(", ");
        let message = format!("function generate_series({names}) does not exist");
        return Err(Error::new(SqlState::UndefinedFunction, message).with_hint(
            "No function matches the given name and argument types. You might need to add explicit type casts.",
        ));
    }
    Ok(item.arrow())
}

/// The types that the arguments of a series are cast to, for its item type.
pub fn argument_types(item: &DataType, count: usize) -> Vec<DataType> {
    let step = match item {
        DataType::Timestamp(..) => INTERVAL,
        DataType::Int32 => DataType::Int64,
        item => item.clone(),
    };
    let bound = if *item == DataType::Int32 { DataType::Int64 } else { item.clone() };
    [bound.clone(), bound, step].into_iter().take(count).collect()
}

/// An argument of a series as one of [`argument_types`].
///
/// # Errors
/// An error of the cast.
pub fn argument(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    match is_open(to) {
        true => opened(array),
        false => Ok(cast(array, to)?),
    }
}

/// A series that is being generated.
#[derive(Debug, Clone)]
pub struct Series {
    item: DataType,
    next: Option<i128>,
    end: i128,
    step: Step,
    /// In which days begin.
    zone: Zone,
    /// Of numbers with a scale each.
    scales: Scales,
}

/// The digits behind the point.
#[derive(Debug, Clone, Copy, Default)]
struct Scales {
    /// With which values are computed.
    all: u32,
    /// Of the next value.
    next: u32,
    /// Of the values after it.
    rest: u32,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Number(i128),
    Interval(IntervalMonthDayNano),
}

impl Series {
    /// The series of the arguments in a row, which have [`argument_types`]; `None` if one is NULL.
    ///
    /// # Errors
    /// 22023: the step is zero. 0A000: it begins with infinity.
    pub fn new(item: &DataType, arguments: &[ArrayRef], row: usize) -> Result<Option<Self>> {
        if arguments.iter().any(|array| array.is_null(row)) {
            return Ok(None);
        }
        if is_open(item) {
            return Self::of_numbers(arguments, row).map(Some);
        }
        let number = |array: &ArrayRef| match array.data_type() {
            DataType::Decimal128(..) => array.as_primitive::<Decimal128Type>().value(row),
            DataType::Timestamp(..) => {
                array.as_primitive::<TimestampMicrosecondType>().value(row).into()
            }
            _ => array.as_primitive::<Int64Type>().value(row).into(),
        };
        let one = match item {
            DataType::Decimal128(_, scale) => 10i128.pow(scale.unsigned_abs().into()),
            _ => 1,
        };
        let step = match arguments.get(2) {
            None => Step::Number(one),
            Some(step) => match step.as_primitive_opt::<IntervalMonthDayNanoType>() {
                Some(intervals) => Step::Interval(intervals.value(row)),
                None => Step::Number(number(step)),
            },
        };
        if step.direction() == 0 {
            return Err(Error::new(SqlState::InvalidParameterValue, "step size cannot equal zero"));
        }
        let (next, end) = (Some(number(&arguments[0])), number(&arguments[1]));
        let starts = i64::try_from(number(&arguments[0]));
        if matches!(item, DataType::Timestamp(..)) && starts.is_ok_and(is_infinite) {
            return Err(Error::unsupported("a series that begins with infinity is not supported"));
        }
        let (item, scales) = (item.clone(), Scales::default());
        Ok(Some(Self { item, next, end, step, zone: Zone::UTC, scales }))
    }

    /// The series with the days of a zone, if it is one of timestamps with time zone.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        match self.item {
            DataType::Timestamp(_, Some(_)) => Self { zone, ..self },
            _ => self,
        }
    }

    /// The series of numbers with a scale each.
    fn of_numbers(arguments: &[ArrayRef], row: usize) -> Result<Self> {
        let mut parts = Vec::with_capacity(3);
        for (array, name) in arguments.iter().zip(["start value", "stop value", "step size"]) {
            let number = Numbers::new(array)?.number(row)?;
            if !number.is_finite() {
                let what = if number.is_nan() { "NaN" } else { "infinity" };
                let message = format!("{name} cannot be {what}");
                return Err(Error::new(SqlState::InvalidParameterValue, message));
            }
            parts.push(number.small_parts().ok_or_else(too_long)?);
        }
        let (start, end) = (parts[0], parts[1]);
        let step = parts.get(2).copied().unwrap_or((1, 0));
        if step.0 == 0 {
            return Err(Error::new(SqlState::InvalidParameterValue, "step size cannot equal zero"));
        }
        let all = start.1.max(end.1).max(step.1);
        let whole = |(value, scale): (i128, u32)| {
            let power = 10_i128.checked_pow(all - scale);
            power.and_then(|power| value.checked_mul(power)).ok_or_else(too_long)
        };
        Ok(Self {
            item: OPEN,
            next: Some(whole(start)?),
            end: whole(end)?,
            step: Step::Number(whole(step)?),
            zone: Zone::UTC,
            scales: Scales { all, next: start.1, rest: start.1.max(step.1) },
        })
    }

    /// Values with the digits behind the point that they have.
    fn numbers(&self, values: &[i128]) -> Result<ArrayRef> {
        let Scales { all, next, rest } = self.scales;
        let scales = std::iter::once(next).chain(std::iter::repeat(rest));
        let numbers: Vec<Numeric> = values
            .iter()
            .zip(scales)
            .map(|(value, scale)| {
                // The digits that are left out are zeros.
                let digits = value / 10_i128.pow(all - scale);
                Numeric::from_i128(digits, scale as i32)
            })
            .collect();
        collect(numbers.into_iter().map(|number| Ok(Some(number))))
    }

    /// How many values are left, where a month is thirty days.
    pub fn count(&self) -> f64 {
        let left = self.next.map(|next| self.end as f64 - next as f64);
        left.map_or(0.0, |left| (left / self.step.length()).floor() + 1.0).max(0.0)
    }

    /// Bytes that all values take while an array of them is made; about as many if the steps are intervals.
    fn bytes(&self) -> u64 {
        let Some(next) = self.next else { return 0 };
        let steps = (self.end - next) as f64 / self.step.length();
        (steps.max(0.0) as u64).saturating_mul(VALUE_BYTES)
    }

    /// The next values, at most `most`; `None` after the last.
    ///
    /// # Errors
    /// An error of the cast: a value is out of the range of its type. 57014: the statement has to end.
    pub fn batch(&mut self, most: usize) -> Result<Option<ArrayRef>> {
        // The bytes that are accounted for are those of a vector that does not grow.
        let mut values = Vec::new();
        let count = most.min(self.count() as usize);
        values.try_reserve_exact(count).map_err(|_| {
            Error::new(SqlState::OutOfMemory, format!("no memory for a series of {count} values"))
        })?;
        while let Some(value) = self.next.filter(|_| values.len() < most) {
            if values.len().is_multiple_of(CHECKED) {
                check()?;
            }
            let is_over =
                if self.step.direction() > 0 { value > self.end } else { value < self.end };
            if is_over {
                self.next = None;
                break;
            }
            values.push(value);
            self.next = self.after(value)?;
        }
        if values.is_empty() {
            return Ok(None);
        }
        let array = self.array(values)?;
        self.scales.next = self.scales.rest;
        Ok(Some(array))
    }

    /// The value after another; `None` if there is none.
    fn after(&self, value: i128) -> Result<Option<i128>> {
        let next = self.step.after(value, self.zone);
        if next.is_none() && matches!(self.item, DataType::Timestamp(..)) {
            let message = "timestamp out of range";
            return Err(Error::new(SqlState::DatetimeFieldOverflow, message));
        }
        Ok(next)
    }

    fn array(&self, values: Vec<i128>) -> Result<ArrayRef> {
        let small = |value: i128| i64::try_from(value).unwrap_or(i64::MAX);
        let array: ArrayRef = match &self.item {
            open if is_open(open) => self.numbers(&values)?,
            DataType::Decimal128(precision, scale) => {
                let values = Decimal128Array::from(values);
                Arc::new(values.with_precision_and_scale(*precision, *scale)?)
            }
            DataType::Timestamp(_, zone) => {
                let values = values.into_iter().map(small);
                let values = TimestampMicrosecondArray::from_iter_values(values);
                Arc::new(values.with_timezone_opt(zone.clone()))
            }
            _ => Arc::new(Int64Array::from_iter_values(values.into_iter().map(small))),
        };
        Ok(if *array.data_type() == self.item { array } else { cast(&array, &self.item)? })
    }
}

impl Step {
    /// The length of the step: a number, or microseconds with months of 30 days.
    fn length(self) -> f64 {
        match self {
            Self::Number(step) => step as f64,
            Self::Interval(step) => {
                let days = i128::from(step.months) * 30 + i128::from(step.days);
                (days * MICROS_PER_DAY * 1000 + i128::from(step.nanoseconds)) as f64 / 1000.0
            }
        }
    }

    fn direction(self) -> i32 {
        match self.length() {
            0.0 => 0,
            length if length > 0.0 => 1,
            _ => -1,
        }
    }

    fn after(self, value: i128, zone: Zone) -> Option<i128> {
        match self {
            Self::Number(step) => value.checked_add(step),
            Self::Interval(step) => plus(i64::try_from(value).ok()?, step, zone).map(i128::from),
        }
    }
}

fn too_long() -> Error {
    Error::unsupported("generate_series of numerics that are this long is not supported")
}

fn list_types(types: &[DataType]) -> Result<(Vec<DataType>, DataType)> {
    let known = |data_type: &DataType| (!data_type.is_null()).then(|| data_type.clone());
    let item = item_type(&types.iter().map(known).collect::<Vec<_>>())?;
    // The result type is computed again from the coerced types: `integer` must stay `integer`.
    let arguments = match item {
        DataType::Int32 => vec![DataType::Int32; types.len()],
        OPEN => types.to_vec(),
        _ => argument_types(&item, types.len()),
    };
    Ok((arguments, DataType::List(Arc::new(Field::new_list_field(item, true)))))
}

fn lists(args: &[ArrayRef]) -> Result<ArrayRef> {
    let types: Vec<DataType> = args.iter().map(|array| array.data_type().clone()).collect();
    let (_, DataType::List(field)) = list_types(&types)? else {
        return Err(Error::unsupported("a series must be a list"));
    };
    let wanted = argument_types(field.data_type(), args.len());
    let args = args.iter().zip(&wanted).map(|(array, wanted)| argument(array, wanted));
    let args = args.collect::<Result<Vec<_>>>()?;
    let (mut items, mut lengths, mut valid) = (Vec::new(), Vec::new(), Vec::new());
    let (mut held, mut bytes) = (Held::nothing(), 0);
    for row in 0..args[0].len() {
        let series = Series::new(field.data_type(), &args, row)?;
        valid.push(series.is_some());
        let values = match series {
            Some(mut series) => {
                bytes = u64::saturating_add(bytes, series.bytes());
                held.grow_to(bytes)?;
                check()?;
                series.batch(usize::MAX)?
            }
            None => None,
        };
        lengths.push(values.as_ref().map_or(0, |values| values.len()));
        items.extend(values);
    }
    let items = match items.len() {
        0 => datafusion::arrow::array::new_empty_array(field.data_type()),
        _ => concat(&items.iter().map(AsRef::as_ref).collect::<Vec<_>>())?,
    };
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(ListArray::try_new(field, offsets, items, Some(NullBuffer::from(valid)))?))
}
