//! Operands of statements on the short path: constants and parameters.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{Expr, Value};
use values::error::{Error, Result, SqlState};

/// A value that is known when the statement is executed.
#[derive(Clone)]
pub(super) enum Operand {
    Constant(ScalarValue),
    /// The index of a parameter, from 0.
    Parameter(usize),
}

impl Operand {
    /// The operand of an expression; `None` for other expressions.
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

    /// The index of the parameter, from 0; `None` for a constant.
    pub(super) fn number(&self) -> Option<usize> {
        match self {
            Self::Parameter(number) => Some(*number),
            Self::Constant(_) => None,
        }
    }

    /// The value.
    ///
    /// # Errors
    /// 42P02 if the parameter does not exist.
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

/// A value as an array of one item. Integers are cast to `data_type` if it is an integer type.
pub(super) fn one_value(value: &ScalarValue, data_type: &DataType) -> Result<ArrayRef> {
    let given = value.data_type();
    if given != *data_type && given.is_integer() && data_type.is_integer() {
        return Ok(value.cast_to(data_type)?.to_array()?);
    }
    Ok(value.to_array()?)
}
