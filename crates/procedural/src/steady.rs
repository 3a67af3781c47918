//! Parameters whose types do not change with their values.

use datafusion::common::ScalarValue;
use planner::NamedParameter;
use std::borrow::Cow;
use store::catalog::SqlType;
use values::numbers;

/// Parameters whose types do not change with their values.
pub(crate) fn all_steady(
    names: &[NamedParameter],
    values: &[ScalarValue],
) -> (Vec<NamedParameter>, Vec<ScalarValue>) {
    names.iter().zip(values).map(|(name, value)| steady(name, value)).unzip()
}

/// A parameter whose type does not change with its values: a number has a scale of its own.
fn steady(name: &NamedParameter, value: &ScalarValue) -> (NamedParameter, ScalarValue) {
    let mut name = name.clone();
    if is_number(&name.sql_type) {
        name.sql_type = SqlType::NUMERIC;
    }
    (name, steady_value(value).into_owned())
}

/// A value as the engine gets it: a number with a scale of its own.
pub(crate) fn steady_value(value: &ScalarValue) -> Cow<'_, ScalarValue> {
    let ScalarValue::Decimal128(digits, _, scale) = value else { return Cow::Borrowed(value) };
    Cow::Owned(match digits {
        Some(digits) => {
            let number = numerics::Numeric::from_i128(*digits, i32::from(*scale));
            numbers::constant(&number)
        }
        None => ScalarValue::LargeBinary(None),
    })
}

/// Whether values of a type are numbers with digits behind the point.
pub(crate) fn is_number(of: &SqlType) -> bool {
    matches!(of, SqlType::Numeric { .. })
}
