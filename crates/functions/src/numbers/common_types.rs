//! Common types of numbers.

use datafusion::arrow::datatypes::{DECIMAL128_MAX_PRECISION as DIGITS_MAX, DataType};
use values::numbers::{OPEN, has_one_scale, is_open};

/// Precision and scale of the decimals that hold all values of an Arrow type.
pub fn digits(data_type: &DataType) -> (u8, i8) {
    match data_type {
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) => {
            (*p, *s)
        }
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => (5, 0),
        DataType::Int32 | DataType::UInt16 => (10, 0),
        DataType::Int64 | DataType::UInt32 => (19, 0),
        DataType::UInt64 => (20, 0),
        _ => (DIGITS_MAX, 10),
    }
}

/// The decimals that hold the values of both; the scale is kept if there are too many digits.
pub fn common(left: &DataType, right: &DataType) -> DataType {
    let ((left, left_scale), (right, right_scale)) = (digits(left), digits(right));
    let scale = left_scale.max(right_scale);
    let whole =
        (i16::from(left) - i16::from(left_scale)).max(i16::from(right) - i16::from(right_scale));
    let precision = u8::try_from(whole + i16::from(scale)).unwrap_or(DIGITS_MAX);
    DataType::Decimal128(precision.clamp(1, DIGITS_MAX), scale)
}

/// The Arrow type for values of two that represent the same type.
pub fn of_both(left: &DataType, right: &DataType) -> DataType {
    match (left, right) {
        (left, right) if left == right => left.clone(),
        (DataType::List(item), DataType::List(other)) => {
            let field = item.as_ref().clone();
            DataType::List(
                field.with_data_type(of_both(item.data_type(), other.data_type())).into(),
            )
        }
        (DataType::Decimal128(..), DataType::Decimal128(..)) => of_numerics(left, right),
        (left, right) if is_open(left) || is_open(right) => OPEN,
        _ => left.clone(),
    }
}

/// The Arrow type for values of two that represent the same numeric type.
fn of_numerics(left: &DataType, right: &DataType) -> DataType {
    let is_same_scale = match (left, right) {
        (DataType::Decimal128(_, left), DataType::Decimal128(_, right)) => left == right,
        _ => false,
    };
    match is_same_scale && has_one_scale(left) && has_one_scale(right) {
        true => Some(common(left, right)).filter(has_one_scale).unwrap_or(OPEN),
        false => OPEN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_decimals_hold_both() {
        let decimal = DataType::Decimal128;
        assert_eq!(common(&decimal(15, 2), &decimal(4, 3)), decimal(16, 3));
        assert_eq!(common(&DataType::Int32, &decimal(4, 3)), decimal(13, 3));
        assert_eq!(common(&decimal(38, 0), &decimal(38, 10)), decimal(38, 10));
    }
}
