//! What is known of a column of rows on their way through a plan.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ColumnStatistics, ScalarValue};

/// Bytes of a value of no fixed width, where nothing is known of it.
const TEXT_BYTES: f64 = 24.0;

/// Bytes in which memory has a text, or where it lies and how it begins.
const VIEW_BYTES: f64 = 16.0;
/// Bytes of the longest text that is there itself.
const INLINE_BYTES_MAX: f64 = 12.0;

/// Different values that PostgreSQL supposes in a column of which it knows nothing.
pub const DISTINCT: f64 = 200.0;

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Bytes of a value.
    pub bytes: f64,
    /// Whether all values have as many.
    pub is_fixed: bool,
    /// How many different values it has.
    pub distinct: Option<f64>,
    /// The least and the greatest value, as numbers.
    pub bounds: Option<(f64, f64)>,
    /// Whether its values are whole numbers.
    pub whole: bool,
    /// How many times as far its values would reach as `bounds` say, with as many rows as are supposed.
    pub reach: f64,
    /// The part of its values that is NULL.
    pub nulls: Option<f64>,
}

impl Column {
    /// A column of which only the type is known.
    pub fn of_type(data_type: &DataType) -> Self {
        Self {
            bytes: fixed_bytes(data_type).unwrap_or(TEXT_BYTES),
            is_fixed: fixed_bytes(data_type).is_some(),
            distinct: None,
            bounds: None,
            whole: is_whole(data_type),
            reach: 1.0,
            nulls: None,
        }
    }

    /// A column of several inputs' rows, so many each with what is known of their values.
    pub fn of_all(data_type: &DataType, parts: impl Iterator<Item = (f64, Self)>) -> Self {
        let parts: Vec<(f64, Self)> = parts.collect();
        let rows = parts.iter().map(|(rows, _)| rows).sum::<f64>().max(1.0);
        let of_rows = |of: fn(&Self) -> f64| {
            parts.iter().map(|(rows, column)| rows * of(column)).sum::<f64>() / rows
        };
        let bounds = parts.iter().map(|(_, column)| column.bounds).reduce(|one, other| {
            let ((least, greatest), (low, high)) = one.zip(other)?;
            Some((least.min(low), greatest.max(high)))
        });
        let known = Self::of_type(data_type);
        let is_text = parts.iter().any(|(rows, _)| *rows > 0.0) && !known.is_fixed;
        Self {
            bytes: if is_text { of_rows(|column| column.bytes) } else { known.bytes },
            distinct: parts.iter().map(|(_, column)| column.distinct).sum(),
            bounds: bounds.flatten(),
            reach: parts.iter().map(|(_, column)| column.reach).fold(1.0, f64::max),
            ..known
        }
    }

    /// What a scan knows of so many rows' values.
    pub fn learn(&mut self, known: &ColumnStatistics, rows: f64) {
        let bounds = known.min_value.get_value().zip(known.max_value.get_value());
        self.bounds = bounds.and_then(|(min, max)| number(min).zip(number(max)));
        let counted = known.distinct_count.get_value().map(|distinct| *distinct as f64);
        let whole = self.bounds.filter(|_| self.whole);
        self.distinct = counted.or(whole.map(|(min, max)| max - min + 1.0));
        let nulls = known.null_count.get_value();
        self.nulls = nulls.map(|nulls| (*nulls as f64 / rows.max(1.0)).min(1.0));
    }

    /// Bytes that are copied in memory where a value is chosen from others: of a text, where it lies.
    fn chosen_bytes(&self) -> f64 {
        if self.is_fixed { self.bytes } else { VIEW_BYTES }
    }

    /// Bytes that are copied in memory where a value is handed on.
    fn copied_bytes(&self) -> f64 {
        if self.lies_apart() { VIEW_BYTES + self.bytes } else { self.chosen_bytes() }
    }

    /// Whether its values lie elsewhere than what says where they are.
    pub fn lies_apart(&self) -> bool {
        !self.is_fixed && self.bytes > INLINE_BYTES_MAX
    }

    /// The part of its values that is not NULL, as far as is known.
    pub fn present(&self) -> f64 {
        1.0 - self.nulls.unwrap_or(0.0)
    }

    /// How many different values so many rows have.
    pub fn distinct_of(&self, rows: f64) -> f64 {
        self.distinct.unwrap_or(DISTINCT).min(rows).max(1.0)
    }
}

/// Bytes of all columns of a row.
pub fn row_bytes(columns: &[Column]) -> f64 {
    total(columns, |column| column.bytes)
}

/// Bytes that are copied in memory where some columns of a row are chosen.
pub fn chosen_row_bytes(columns: &[Column]) -> f64 {
    total(columns, Column::chosen_bytes)
}

/// Bytes that are copied in memory where a row is handed on.
pub fn copied_row_bytes(columns: &[Column]) -> f64 {
    total(columns, Column::copied_bytes)
}

/// Of no columns it is 0; the sum of no numbers would be -0, and be shown so.
fn total(columns: &[Column], bytes: impl Fn(&Column) -> f64) -> f64 {
    columns.iter().fold(0.0, |total, column| total + bytes(column))
}

/// Bytes of a value, where all of a type have as many.
pub fn fixed_bytes(data_type: &DataType) -> Option<f64> {
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
