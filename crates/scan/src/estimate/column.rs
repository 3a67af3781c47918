//! What is known of a column of an operator's output.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{ColumnStatistics, ScalarValue};

/// Bytes of a value of variable width of which nothing is known.
const TEXT_BYTES: f64 = 24.0;

/// Bytes of a string view: the string itself, or its address and prefix.
const VIEW_BYTES: f64 = 16.0;
/// Bytes of the longest string that a view contains.
const INLINE_BYTES_MAX: f64 = 12.0;

/// Distinct values of a column of which nothing is known, as PostgreSQL assumes.
pub const DISTINCT: f64 = 200.0;

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Bytes of a value, on average.
    pub bytes: f64,
    /// Whether all values have this number of bytes.
    pub is_fixed: bool,
    /// Number of distinct values.
    pub distinct: Option<f64>,
    /// Minimum and maximum, as numbers.
    pub bounds: Option<(f64, f64)>,
    /// Whether its values are integers or dates.
    pub whole: bool,
    /// The factor by which the range of values exceeds `bounds` in the scaled table.
    pub reach: f64,
    /// The share of its values that is NULL.
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

    /// A column of a union; `parts` are the rows and the column of each input.
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

    /// Takes over the statistics of a scan of `rows` rows.
    pub fn learn(&mut self, known: &ColumnStatistics, rows: f64) {
        let bounds = known.min_value.get_value().zip(known.max_value.get_value());
        self.bounds = bounds.and_then(|(min, max)| number(min).zip(number(max)));
        let counted = known.distinct_count.get_value().map(|distinct| *distinct as f64);
        let whole = self.bounds.filter(|_| self.whole);
        self.distinct = counted.or(whole.map(|(min, max)| max - min + 1.0));
        let nulls = known.null_count.get_value();
        self.nulls = nulls.map(|nulls| (*nulls as f64 / rows.max(1.0)).min(1.0));
    }

    /// Bytes that are copied if a value is selected: of a string, its view.
    fn chosen_bytes(&self) -> f64 {
        if self.is_fixed { self.bytes } else { VIEW_BYTES }
    }

    /// Bytes that are copied if a value is materialized.
    fn copied_bytes(&self) -> f64 {
        if self.lies_apart() { VIEW_BYTES + self.bytes } else { self.chosen_bytes() }
    }

    /// Whether its values lie outside their views.
    pub fn lies_apart(&self) -> bool {
        !self.is_fixed && self.bytes > INLINE_BYTES_MAX
    }

    /// The share of its values that is not NULL; 1 if unknown.
    pub fn present(&self) -> f64 {
        1.0 - self.nulls.unwrap_or(0.0)
    }

    /// The number of distinct values in `rows` rows, at least 1.
    pub fn distinct_of(&self, rows: f64) -> f64 {
        self.distinct.unwrap_or(DISTINCT).min(rows).max(1.0)
    }
}

/// Bytes of all columns of a row.
pub fn row_bytes(columns: &[Column]) -> f64 {
    total(columns, |column| column.bytes)
}

/// Bytes that are copied if these columns of a row are selected.
pub fn chosen_row_bytes(columns: &[Column]) -> f64 {
    total(columns, Column::chosen_bytes)
}

/// Bytes that are copied if a row is materialized.
pub fn copied_row_bytes(columns: &[Column]) -> f64 {
    total(columns, Column::copied_bytes)
}

/// The sum over the columns. Without columns it is 0, where `Iterator::sum` would return -0.
fn total(columns: &[Column], bytes: impl Fn(&Column) -> f64) -> f64 {
    columns.iter().fold(0.0, |total, column| total + bytes(column))
}

/// Bytes of a value of a type of fixed width.
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

/// A value as a number with the order of its type; `None` for NULL, strings and the like.
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
