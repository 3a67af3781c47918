//! Values of system tables and of row-at-a-time functions, and their conversion to Arrow arrays.

use datafusion::arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array,
    Int64Array, IntervalMonthDayNanoArray, ListBuilder, PrimitiveBuilder, StringViewArray,
    StringViewBuilder, TimestampMicrosecondArray,
};
use datafusion::arrow::datatypes::{
    DataType, Field, Int16Type, Int32Type, Int64Type, IntervalMonthDayNano, TimeUnit,
};
use std::sync::Arc;

/// The representation of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `true` or `false`
    Flag,
    /// 16-bit integer
    Small,
    /// 32-bit integer
    Integer,
    /// 64-bit integer; also object ids
    Number,
    /// 32-bit floating point
    Real,
    /// 64-bit floating point
    Double,
    /// Text, names, single characters, expressions
    Text,
    /// Timestamp in UTC, in microseconds
    Moment,
    /// Interval, in microseconds
    Interval,
    /// Array of 16-bit integers
    Smalls,
    /// Array of 32-bit integers
    Integers,
    /// Array of object ids
    Numbers,
    /// Array of text
    Texts,
}

impl Form {
    /// The representation of PostgreSQL's type of this name; [`Form::Text`] for other names.
    pub fn of(name: &str) -> Self {
        match name {
            "boolean" => Self::Flag,
            "smallint" => Self::Small,
            "integer" | "cardinal_number" => Self::Integer,
            "bigint" | "oid" | "xid" | "cid" | "xid8" | "regproc" | "regtype" => Self::Number,
            "real" => Self::Real,
            "double precision" | "numeric" => Self::Double,
            "timestamptz" | "time_stamp" => Self::Moment,
            "interval" => Self::Interval,
            "int2vector" | "smallint[]" => Self::Smalls,
            "oidvector" | "oid[]" => Self::Numbers,
            "text[]" | "name[]" | "aclitem[]" | "\"char\"[]" | "regtype[]" => Self::Texts,
            _ => Self::Text,
        }
    }

    /// The Arrow type.
    pub fn arrow(self) -> DataType {
        let list = |item| DataType::List(Arc::new(Field::new_list_field(item, true)));
        match self {
            Self::Flag => DataType::Boolean,
            Self::Small => DataType::Int16,
            Self::Integer => DataType::Int32,
            Self::Number => DataType::Int64,
            Self::Real => DataType::Float32,
            Self::Double => DataType::Float64,
            Self::Text => DataType::Utf8View,
            Self::Moment => DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into())),
            Self::Interval => {
                DataType::Interval(datafusion::arrow::datatypes::IntervalUnit::MonthDayNano)
            }
            Self::Smalls => list(DataType::Int16),
            Self::Integers => list(DataType::Int32),
            Self::Numbers => list(DataType::Int64),
            Self::Texts => list(DataType::Utf8View),
        }
    }
}

/// One value of a system table or of a function.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// NULL
    Null,
    /// A Boolean
    Flag(bool),
    /// An integer, an object id, a timestamp in microseconds since 1970, or an interval in microseconds
    Number(i64),
    /// A floating-point number
    Double(f64),
    /// Text
    Text(String),
    /// An array of integers
    Numbers(Vec<i64>),
    /// An array of text; `None` is NULL
    Texts(Vec<Option<String>>),
}

impl From<bool> for Cell {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<i64> for Cell {
    fn from(value: i64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<i64>> for Cell {
    fn from(value: Vec<i64>) -> Self {
        Self::Numbers(value)
    }
}

impl From<Vec<String>> for Cell {
    fn from(value: Vec<String>) -> Self {
        Self::Texts(value.into_iter().map(Some).collect())
    }
}

impl From<Vec<Option<String>>> for Cell {
    fn from(value: Vec<Option<String>>) -> Self {
        Self::Texts(value)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Cell {
    fn number(&self) -> Option<i64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Flag(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    fn double(&self) -> Option<f64> {
        match self {
            Self::Double(value) => Some(*value),
            other => other.number().map(|value| value as f64),
        }
    }

    fn text(&self) -> Option<String> {
        match self {
            Self::Text(value) => Some(value.clone()),
            Self::Number(value) => Some(value.to_string()),
            _ => None,
        }
    }

    /// The default of a NOT NULL column: zero, empty or `false`. Timestamps and intervals have none.
    pub fn zero(form: Form) -> Self {
        match form {
            Form::Flag => Self::Flag(false),
            Form::Small | Form::Integer | Form::Number | Form::Real | Form::Double => {
                Self::Number(0)
            }
            Form::Text => Self::Text(String::new()),
            Form::Moment | Form::Interval => Self::Null,
            Form::Smalls | Form::Integers | Form::Numbers => Self::Numbers(Vec::new()),
            Form::Texts => Self::Texts(Vec::new()),
        }
    }

    /// Parses a value in the format of the embedded catalog data: `\N` is NULL, arrays have a blank between their
    /// elements. Text that is no value of the form is NULL.
    pub fn parse(text: &str, form: Form) -> Self {
        match form {
            _ if text == "\\N" => Self::Null,
            Form::Flag => Self::Flag(text == "t"),
            Form::Small | Form::Integer | Form::Number => {
                text.parse().map_or(Self::Null, Self::Number)
            }
            Form::Real | Form::Double => text.parse().map_or(Self::Null, Self::Double),
            Form::Smalls | Form::Integers | Form::Numbers => {
                Self::Numbers(text.split(' ').filter_map(|number| number.parse().ok()).collect())
            }
            Form::Text => Self::Text(text.to_owned()),
            Form::Moment | Form::Interval | Form::Texts => Self::Null,
        }
    }
}

/// The Arrow array of values of one form. A value that does not fit the form becomes NULL.
pub fn array<'a>(form: Form, cells: impl Iterator<Item = &'a Cell> + Clone) -> ArrayRef {
    let cells = || cells.clone();
    let numbers = || cells().map(Cell::number);
    match form {
        Form::Flag => {
            let flag = |cell: &Cell| match cell {
                Cell::Flag(flag) => Some(*flag),
                _ => None,
            };
            Arc::new(cells().map(flag).collect::<BooleanArray>())
        }
        Form::Small => {
            let narrow = |number: Option<i64>| number.and_then(|n| i16::try_from(n).ok());
            Arc::new(numbers().map(narrow).collect::<Int16Array>())
        }
        Form::Integer => {
            let narrow = |number: Option<i64>| number.and_then(|n| i32::try_from(n).ok());
            Arc::new(numbers().map(narrow).collect::<Int32Array>())
        }
        Form::Number => Arc::new(numbers().collect::<Int64Array>()),
        Form::Real => {
            let real = |cell: &Cell| cell.double().map(|double| double as f32);
            Arc::new(cells().map(real).collect::<Float32Array>())
        }
        Form::Double => Arc::new(cells().map(Cell::double).collect::<Float64Array>()),
        Form::Text => Arc::new(cells().map(Cell::text).collect::<StringViewArray>()),
        Form::Moment => {
            let moments = numbers().collect::<TimestampMicrosecondArray>();
            Arc::new(moments.with_timezone("+00:00"))
        }
        Form::Interval => {
            let of = |micros: i64| IntervalMonthDayNano::new(0, 0, micros.saturating_mul(1000));
            let intervals = numbers().map(|micros| micros.map(of));
            Arc::new(intervals.collect::<IntervalMonthDayNanoArray>())
        }
        Form::Smalls => lists::<Int16Type>(cells(), |item| i16::try_from(item).ok()),
        Form::Integers => lists::<Int32Type>(cells(), |item| i32::try_from(item).ok()),
        Form::Numbers => lists::<Int64Type>(cells(), Some),
        Form::Texts => {
            let mut builder = ListBuilder::new(StringViewBuilder::new());
            cells().for_each(|cell| match cell {
                Cell::Texts(items) => builder.append_value(items.iter().map(Option::as_ref)),
                _ => builder.append_null(),
            });
            Arc::new(builder.finish())
        }
    }
}

/// An Arrow array of lists of integers. An element that does not fit the type becomes NULL.
fn lists<'a, T: ArrowPrimitiveType>(
    cells: impl Iterator<Item = &'a Cell>,
    narrow: impl Fn(i64) -> Option<T::Native>,
) -> ArrayRef {
    let mut builder = ListBuilder::new(PrimitiveBuilder::<T>::new());
    cells.for_each(|cell| match cell {
        Cell::Numbers(items) => builder.append_value(items.iter().map(|item| narrow(*item))),
        _ => builder.append_null(),
    });
    Arc::new(builder.finish())
}
