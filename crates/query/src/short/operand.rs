//! Values of a short statement: constants in its text, and parameters.

use crate::values::error::{Error, Result, SqlState};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{Expr, Value};

/// A value that is known when the statement is executed.
#[derive(Clone)]
pub(super) enum Operand {
    Constant(ScalarValue),
    Parameter(usize),
}

impl Operand {
    pub(super) fn of(expression: &Expr) -> Option<Self> {
        let Expr::Value(value) = expression else { return None };
        let text = |text: &str| Some(Self::Constant(ScalarValue::Utf8View(Some(text.to_owned()))));
        match &value.value {
            Value::Placeholder(name) => {
                let number: usize = name.strip_prefix('$')?.parse().ok()?;
                Some(Self::Parameter(number.checked_sub(1)?))
            }
            Value::Number(number, _) => {
                let number: i64 = number.to_string().parse().ok()?;
                Some(Self::Constant(ScalarValue::Int64(Some(number))))
            }
            Value::SingleQuotedString(value) => text(value),
            Value::Boolean(value) => Some(Self::Constant(ScalarValue::Boolean(Some(*value)))),
            Value::Null => Some(Self::Constant(ScalarValue::Null)),
            _ => None,
        }
    }

    /// The parameter's number, from zero.
    pub(super) fn number(&self) -> Option<usize> {
        match self {
            Self::Parameter(number) => Some(*number),
            Self::Constant(_) => None,
        }
    }

    pub(super) fn value<'a>(&'a self, parameters: &'a [ScalarValue]) -> Result<&'a ScalarValue> {
        match self {
            Self::Constant(value) => Ok(value),
            Self::Parameter(index) => parameters.get(*index).ok_or_else(|| {
                let message = format!("there is no parameter ${}", index + 1);
                Error::new(SqlState::UndefinedParameter, message)
            }),
        }
    }
}

/// A value as an array; whole numbers in the type that is wanted, where that is one of theirs.
pub(super) fn one_value(value: &ScalarValue, data_type: &DataType) -> Result<ArrayRef> {
    match value.data_type() == *data_type || !value.data_type().is_integer() {
        true => Ok(value.to_array()?),
        false if data_type.is_integer() => Ok(value.cast_to(data_type)?.to_array()?),
        false => Ok(value.to_array()?),
    }
}
