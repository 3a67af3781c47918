//! Programs of expressions, which are computed without the statement around.

use crate::evaluation::Compiled;
use crate::scalar::Scalar;
use crate::value::Value;
use datafusion::common::ScalarValue;
use planner::NamedParameter;
use plpgsql::Compute;
use std::borrow::Cow;
use std::sync::Arc;
use store::catalog::SqlType;
use values::error::Result;
use values::numbers;

/// What computes an expression.
#[derive(Debug)]
pub enum Program {
    /// One of plain values.
    Scalar(Arc<Scalar>),
    /// One that the engine computes.
    Compiled(Arc<Compiled>),
}

impl Compute<Value> for Program {
    fn compute<'v>(&self, variable: &dyn Fn(usize) -> Option<&'v Value>) -> Option<Result<Value>>
    where
        Value: 'v,
    {
        match self {
            Self::Scalar(scalar) => scalar.value(variable),
            Self::Compiled(compiled) => compiled.value_of(variable).transpose(),
        }
    }

    fn variables(&self) -> Vec<usize> {
        match self {
            Self::Scalar(scalar) => scalar.read(),
            Self::Compiled(compiled) => compiled.read(),
        }
    }
}

/// A parameter whose type does not change with its values: a number has a scale of its own.
pub(crate) fn steady(name: &NamedParameter, value: &ScalarValue) -> (NamedParameter, ScalarValue) {
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
