//! What is known of a column of rows on their way through a plan.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;

/// Bytes of a value of no fixed width, where nothing is known of it.
const TEXT_BYTES: f64 = 24.0;

/// Different values that PostgreSQL supposes in a column of which it knows nothing.
pub(super) const DISTINCT: f64 = 200.0;

/// One column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    /// Bytes of a value.
    pub(super) bytes: f64,
    /// How many different values it has.
    pub(super) distinct: Option<f64>,
    /// The least and the greatest value, as numbers.
    pub(super) bounds: Option<(f64, f64)>,
    /// Whether its values are whole numbers.
    pub(super) whole: bool,
    /// The part of its values that is NULL.
    pub(super) nulls: Option<f64>,
}

impl Column {
    /// A column of which only the type is known.
    pub(super) fn of_type(data_type: &DataType) -> Self {
        Self {
            bytes: fixed_bytes(data_type).unwrap_or(TEXT_BYTES),
            distinct: None,
            bounds: None,
            whole: is_whole(data_type),
            nulls: None,
        }
    }

    /// The part of its values that is not NULL, as far as is known.
    pub(super) fn present(&self) -> f64 {
        1.0 - self.nulls.unwrap_or(0.0)
    }

    /// How many different values so many rows have.
    pub(super) fn distinct_of(&self, rows: f64) -> f64 {
        self.distinct.unwrap_or(DISTINCT).min(rows).max(1.0)
    }
}

/// Bytes of all columns of a row.
pub(super) fn row_bytes(columns: &[Column]) -> f64 {
    columns.iter().map(|column| column.bytes).sum()
}

/// Bytes of a value, where all of a type have as many.
pub(super) fn fixed_bytes(data_type: &DataType) -> Option<f64> {
    match data_type {
        DataType::Boolean => Some(1.0),
        DataType::FixedSizeBinary(bytes) => Some(f64::from(*bytes)),
        other => other.primitive_width().map(|bytes| bytes as f64),
    }
}

fn is_whole(data_type: &DataType) -> bool {
    data_type.is_integer() || *data_type == DataType::Date32
}

/// A value as a number by which it is compared with others of its type; `None` for NULL, text and the like.
pub(super) fn number(value: &ScalarValue) -> Option<f64> {
    let steps: &[DataType] = match value.data_type() {
        DataType::Date32 => &[DataType::Int32, DataType::Float64],
        DataType::Date64 | DataType::Timestamp(..) => &[DataType::Int64, DataType::Float64],
        data_type if data_type.is_numeric() => &[DataType::Float64],
        _ => return None,
    };
    let first = value.cast_to(&steps[0]).ok()?;
    let last = steps.iter().skip(1).try_fold(first, |value, step| value.cast_to(step)).ok()?;
    match last {
        ScalarValue::Float64(number) => number.filter(|number| number.is_finite()),
        _ => None,
    }
}
