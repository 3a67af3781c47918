//! Arrays as Parquet has them. It has no intervals of nanoseconds: these become three numbers.

use arrow::array::{
    Array, ArrayRef, AsArray, Int32Array, Int64Array, IntervalMonthDayNanoArray, ListArray,
    StructArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Field, Fields, Int32Type, Int64Type, IntervalMonthDayNanoType, IntervalUnit,
};
use arrow::error::ArrowError;
use std::sync::Arc;

fn parts() -> Fields {
    Fields::from(vec![
        Field::new("months", DataType::Int32, false),
        Field::new("days", DataType::Int32, false),
        Field::new("nanoseconds", DataType::Int64, false),
    ])
}

/// Returns an array that Parquet can hold.
pub(crate) fn outward(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let intervals = array.as_primitive::<IntervalMonthDayNanoType>();
            let values = intervals.values();
            let columns: Vec<ArrayRef> = vec![
                Arc::new(Int32Array::from_iter_values(values.iter().map(|v| v.months))),
                Arc::new(Int32Array::from_iter_values(values.iter().map(|v| v.days))),
                Arc::new(Int64Array::from_iter_values(values.iter().map(|v| v.nanoseconds))),
            ];
            Arc::new(StructArray::new(parts(), columns, intervals.nulls().cloned()))
        }
        DataType::List(field) => {
            let (_, offsets, values, nulls) = array.as_list::<i32>().clone().into_parts();
            let values = outward(&values);
            let field = field.as_ref().clone().with_data_type(values.data_type().clone());
            Arc::new(ListArray::new(Arc::new(field), offsets, values, nulls))
        }
        _ => Arc::clone(array),
    }
}

/// Returns the array of a type that [`outward`] was given.
pub(crate) fn inward(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    match (array.data_type(), to) {
        (from, to) if from == to => Ok(Arc::clone(array)),
        (DataType::Struct(_), DataType::Interval(IntervalUnit::MonthDayNano)) => interval(array),
        (DataType::List(_), DataType::List(field)) => {
            let (_, offsets, values, nulls) = array.as_list::<i32>().clone().into_parts();
            let values = inward(&values, field.data_type())?;
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, values, nulls)?))
        }
        (_, to) => cast(array, to),
    }
}

fn interval(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let all = array.as_struct();
    let column = |name: &str, data_type: &DataType| match all.column_by_name(name) {
        Some(column) if column.data_type() == data_type => Ok(column),
        _ => Err(ArrowError::SchemaError(format!("an interval has no {name}"))),
    };
    let months = column("months", &DataType::Int32)?.as_primitive::<Int32Type>();
    let days = column("days", &DataType::Int32)?.as_primitive::<Int32Type>();
    let nanoseconds = column("nanoseconds", &DataType::Int64)?.as_primitive::<Int64Type>();
    let value = |row: usize| {
        let parts = (months.value(row), days.value(row), nanoseconds.value(row));
        let value = IntervalMonthDayNanoType::make_value(parts.0, parts.1, parts.2);
        all.is_valid(row).then_some(value)
    };
    Ok(Arc::new((0..all.len()).map(value).collect::<IntervalMonthDayNanoArray>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_come_back_also_in_arrays() {
        let values = [Some(IntervalMonthDayNanoType::make_value(1, -2, 3)), None];
        let plain: ArrayRef = Arc::new(IntervalMonthDayNanoArray::from_iter(values));
        let field = Arc::new(Field::new_list_field(plain.data_type().clone(), true));
        let offsets = arrow::buffer::OffsetBuffer::from_lengths([2, 0]);
        let listed: ArrayRef = Arc::new(ListArray::new(field, offsets, Arc::clone(&plain), None));
        for array in [plain, listed] {
            let outside = outward(&array);
            assert_ne!(outside.data_type(), array.data_type());
            assert_eq!(&inward(&outside, array.data_type()).expect("an array"), &array);
        }
    }
}
