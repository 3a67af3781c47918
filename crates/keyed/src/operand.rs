//! Operands of statements: constants and parameters.

use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use grammar::tree::a_const::Val;
use grammar::tree::{AConst, NodeEnum};
use store::catalog::{Column, SqlType};
use values::error::{Error, Result, SqlState};
use values::input::is_of_transaction;

/// A value that is known when the statement is executed.
#[derive(Debug, Clone)]
pub enum Operand {
    /// A constant.
    Constant(ScalarValue),
    /// The index of a parameter, from 0.
    Parameter(usize),
    /// A parameter that is cast to a type: integers, `text`, and arrays of these.
    Cast(usize, SqlType),
}

impl Operand {
    /// The operand of an expression; `None` for other expressions.
    pub fn of(expression: &NodeEnum) -> Option<Self> {
        match expression {
            NodeEnum::ParamRef(parameter) => {
                Some(Self::Parameter(usize::try_from(parameter.number).ok()?.checked_sub(1)?))
            }
            NodeEnum::AConst(constant) => constant_of(constant).map(Self::Constant),
            _ => None,
        }
    }

    /// As [`Operand::of`]; also a parameter that is cast to a type in which it does not change.
    pub(crate) fn compared(expression: &NodeEnum) -> Option<Self> {
        let NodeEnum::TypeCast(cast) = expression else { return Self::of(expression) };
        let number = Self::of(cast.arg.as_deref()?.node.as_ref()?)?.number()?;
        let sql_type = parser::types::of_name(cast.type_name.as_ref()?)?;
        let item = match &sql_type {
            SqlType::Array(item) => &**item,
            other => other,
        };
        let is_plain = match item {
            SqlType::Varchar(length) => length.is_none(),
            SqlType::SmallInt | SqlType::Integer | SqlType::BigInt | SqlType::Text => true,
            _ => false,
        };
        is_plain.then_some(Self::Cast(number, sql_type))
    }

    /// The index of the parameter, from 0; `None` for a constant.
    pub fn number(&self) -> Option<usize> {
        match self {
            Self::Parameter(number) | Self::Cast(number, _) => Some(*number),
            Self::Constant(_) => None,
        }
    }

    /// The value.
    ///
    /// # Errors
    /// 42P02 if the parameter does not exist.
    pub fn value<'a>(&'a self, parameters: &'a [ScalarValue]) -> Result<&'a ScalarValue> {
        match self {
            Self::Constant(value) => Ok(value),
            Self::Parameter(index) | Self::Cast(index, _) => {
                parameters.get(*index).ok_or_else(|| {
                    let message = format!("there is no parameter ${}", index + 1);
                    Error::new(SqlState::UndefinedParameter, message)
                })
            }
        }
    }
}

/// The value of a constant; `None` for a number that is no `bigint`, for bits, and for words that are moments of the
/// transaction.
fn constant_of(constant: &AConst) -> Option<ScalarValue> {
    if constant.isnull {
        return Some(ScalarValue::Null);
    }
    Some(match constant.val.as_ref()? {
        Val::Ival(number) => ScalarValue::Int64(Some(i64::from(number.ival))),
        Val::Fval(number) => ScalarValue::Int64(Some(number.fval.parse().ok()?)),
        Val::Sval(text) if is_of_transaction(&text.sval) => return None,
        Val::Sval(text) => ScalarValue::Utf8View(Some(text.sval.clone())),
        Val::Boolval(value) => ScalarValue::Boolean(Some(value.boolval)),
        Val::Bsval(_) => return None,
    })
}

/// What an operand is to a column.
pub(crate) enum Converted {
    /// NULL.
    Null,
    /// A value of the column's type.
    Value(ArrayRef),
}

/// An operand as a value of a column's type; `None` if PostgreSQL would convert one of both.
///
/// # Errors
/// 42P02 if the parameter does not exist.
pub(crate) fn converted(
    operand: &Operand,
    column: &Column,
    parameters: &[ScalarValue],
) -> Result<Option<Converted>> {
    let value = operand.value(parameters)?;
    if let Operand::Cast(_, to) = operand {
        let (given, to) = (value.data_type(), to.arrow());
        let fits = given.is_string() && to.is_string()
            || given.is_integer() && to.is_integer() && value.cast_to(&to).is_ok();
        if !fits {
            return Ok(None);
        }
    }
    Ok(converted_value(value, !matches!(operand, Operand::Parameter(_)), column))
}

/// As [`converted`], a value. A constant text has no type yet, and one that is cast to `text` has
/// that type: only text columns take them as they are.
pub(crate) fn converted_value(
    value: &ScalarValue,
    is_constant: bool,
    column: &Column,
) -> Option<Converted> {
    let (given, wanted) = (value.data_type(), column.sql_type.arrow());
    let is_text = matches!(column.sql_type, SqlType::Text | SqlType::Varchar(_));
    let same_kind = match (given.is_string(), wanted.is_string()) {
        (true, true) => is_text || !is_constant && column.sql_type == SqlType::Uuid,
        _ => given == wanted || given.is_integer() && wanted.is_integer(),
    };
    if value.is_null() {
        return (same_kind || given.is_null()).then_some(Converted::Null);
    }
    let value = match integer_as(value, &wanted) {
        Some(integer) => integer,
        None if given == wanted => value.clone(),
        None => value.cast_to(&wanted).ok()?,
    };
    let array = value.to_array().ok().filter(|array| same_kind && array.null_count() == 0)?;
    Some(Converted::Value(array))
}

/// A constant of integers, which has 64 bits, as a value of another integer type. `None` of others, and out of its range.
fn integer_as(value: &ScalarValue, wanted: &DataType) -> Option<ScalarValue> {
    let ScalarValue::Int64(Some(number)) = *value else { return None };
    Some(match wanted {
        DataType::Int16 => ScalarValue::Int16(Some(number.try_into().ok()?)),
        DataType::Int32 => ScalarValue::Int32(Some(number.try_into().ok()?)),
        _ => return None,
    })
}

/// A value as an array of one item. Integers are cast to `data_type` if it is an integer type.
///
/// # Errors
/// 22003 for an integer out of range.
pub fn one_value(value: &ScalarValue, data_type: &DataType) -> Result<ArrayRef> {
    let given = value.data_type();
    if given != *data_type && given.is_integer() && data_type.is_integer() {
        return Ok(value.cast_to(data_type)?.to_array()?);
    }
    Ok(value.to_array()?)
}
