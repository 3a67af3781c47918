//! Conditions on values of which equal ones may differ, such as numbers that have a scale each.
//!
//! Plans compare the keys of such numbers ([`KEY`]), and the lengths of intervals. Key ranges and indexes know the numbers and
//! the intervals themselves.

use datafusion::arrow::datatypes::{DataType, IntervalMonthDayNano};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, lit};
use functions::numbers::open::KEY;
pub use functions::numbers::open::comparable;
use functions::operators;
use values::numbers::is_open;
use values::translate::external;

/// The function that returns the length of an interval in nanoseconds.
const LENGTH: &str = "interval_length";

const NANOS_PER_DAY: i128 = 86_400_000_000_000;
const DAYS_PER_MONTH: i128 = 30;

/// What plans compare of a value of an Arrow type: the key of a number that has a scale of its own, the length of an
/// interval, the key that orders an array, a floating-point number with one zero, else the value.
///
/// # Errors
/// Arrow refuses a constant.
pub fn compared(value: Expr, data_type: &DataType) -> Result<Expr> {
    let name = match data_type {
        of if is_open(of) => KEY,
        DataType::Interval(_) => LENGTH,
        DataType::List(_) => "array_order",
        DataType::Float32 | DataType::Float64 => {
            return Ok(value + lit(ScalarValue::new_zero(data_type)?));
        }
        _ => return Ok(value),
    };
    if let Expr::Literal(constant, _) = &value
        && !data_type.is_nested()
    {
        let key = comparable(&constant.to_array()?).map_err(external)?;
        return Ok(Expr::Literal(ScalarValue::try_from_array(&key, 0)?, None));
    }
    match operators::named(name) {
        Some(key) => Ok(key.call(vec![value])),
        None => internal_err!("the function {name} is missing"),
    }
}

/// Conditions that compare the numbers and intervals, where those of plans compare their keys and lengths.
pub(crate) fn without_keys(conditions: Vec<Expr>) -> Vec<Expr> {
    let is_key = |part: &Expr| Ok(key_of(part).is_some());
    if !conditions.iter().any(|condition| condition.exists(is_key).unwrap_or(false)) {
        return conditions;
    }
    let plain = |condition: Expr| {
        let changed = condition.clone().transform_up(|part| Ok(without_key(part)));
        changed.map_or(condition, |changed| changed.data)
    };
    conditions.into_iter().map(plain).collect()
}

/// The number of which an expression is the key, or the interval of which it is the length.
fn key_of(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::ScalarFunction(call) if [KEY, LENGTH].contains(&call.name()) => call.args.first(),
        _ => None,
    }
}

fn without_key(part: Expr) -> Transformed<Expr> {
    match part {
        Expr::BinaryExpr(binary)
            if key_of(&binary.left).is_some() || key_of(&binary.right).is_some() =>
        {
            let (left, right) = (number(&binary.left), number(&binary.right));
            match (left, right) {
                (Some(left), Some(right)) => {
                    let plain = BinaryExpr::new(Box::new(left), binary.op, Box::new(right));
                    Transformed::yes(Expr::BinaryExpr(plain))
                }
                _ => Transformed::no(Expr::BinaryExpr(binary)),
            }
        }
        Expr::InList(list) if key_of(&list.expr).is_some() => {
            let expr = number(&list.expr).map(Box::new);
            let items = list.list.iter().map(number).collect::<Option<Vec<_>>>();
            match expr.zip(items) {
                Some((expr, items)) => {
                    Transformed::yes(Expr::InList(InList::new(expr, items, list.negated)))
                }
                None => Transformed::no(Expr::InList(list)),
            }
        }
        other => Transformed::no(other),
    }
}

/// A number whose key an expression is, or an interval of a length; any scale does, and any interval of the length.
fn number(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Literal(ScalarValue::BinaryView(key), _) => {
            let bytes = key.as_ref().map(|key| [key, &[0_u8; 2][..]].concat());
            Some(Expr::Literal(ScalarValue::LargeBinary(bytes), None))
        }
        Expr::Literal(ScalarValue::Decimal128(length, _, 0), _) => {
            let interval = match length {
                Some(length) => Some(of_length(*length)?),
                None => None,
            };
            Some(Expr::Literal(ScalarValue::IntervalMonthDayNano(interval), None))
        }
        other => key_of(other).cloned(),
    }
}

/// An interval of a length in nanoseconds; `None` if there is none.
fn of_length(length: i128) -> Option<IntervalMonthDayNano> {
    let (days, nanos) = (length / NANOS_PER_DAY, length % NANOS_PER_DAY);
    let months = i32::try_from(days / DAYS_PER_MONTH).ok()?;
    let days = i32::try_from(days % DAYS_PER_MONTH).ok()?;
    Some(IntervalMonthDayNano::new(months, days, i64::try_from(nanos).ok()?))
}
