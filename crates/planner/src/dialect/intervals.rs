//! `INTERVAL '1' DAY`, `INTERVAL '1:30' MINUTE TO SECOND`, `make_interval(days => 3)`.
//!
//! An interval becomes a cast of text, which is parsed by PostgreSQL's rules. DataFusion's interval
//! literals support fewer forms.

use super::build::{call, called, cast, literal_text, number, text};
use datafusion::sql::sqlparser::ast::{
    DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    Interval, Value,
};

/// The arguments of `make_interval`, in order.
const PARTS: [&str; 7] = ["years", "months", "weeks", "days", "hours", "mins", "secs"];

pub(super) fn rewrite(expr: &mut Expr) {
    match expr {
        Expr::Interval(interval) => {
            if let Some(value) = written(interval) {
                *expr = cast(text(value), DataType::Interval { fields: None, precision: None });
            }
        }
        Expr::Function(function) if is_named(function) => {
            if called(expr).as_deref() == Some("make_interval")
                && let Some(parts) = parts(expr)
            {
                *expr = call("make_interval", parts);
            }
        }
        _ => {}
    }
}

/// The interval as text without the fields after it.
fn written(interval: &Interval) -> Option<String> {
    let value = match &*interval.value {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.to_string(),
            _ => literal_text(&interval.value)?.to_owned(),
        },
        _ => return None,
    };
    let fields = (interval.leading_field.as_ref(), interval.last_field.as_ref());
    let is_number = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'.' | b'-' | b'+'))
    };
    let words: Vec<&str> = value.split_whitespace().collect();
    Some(match (fields, &words[..]) {
        ((Some(first), None), [one]) if is_number(one) && is_unit(first) => {
            format!("{one} {first}")
        }
        ((Some(_), Some(last)), [one])
            if is_number(one) && is_unit(last) && !one[1..].contains('-') =>
        {
            format!("{one} {last}")
        }
        ((Some(first), Some(last)), [one, two]) if is_number(one) && is_number(two) => {
            format!("{one} {first} {two} {last}")
        }
        ((Some(DateTimeField::Minute), Some(DateTimeField::Second)), [one]) => format!("0:{one}"),
        _ => value,
    })
}

fn is_unit(field: &DateTimeField) -> bool {
    use DateTimeField::{Day, Hour, Minute, Month, Second, Year};
    matches!(field, Year | Month | Day | Hour | Minute | Second)
}

fn is_named(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else { return false };
    list.args.iter().any(|arg| !matches!(arg, FunctionArg::Unnamed(_)))
}

/// The positional arguments of a `make_interval` with named arguments. Missing ones are 0.
fn parts(expr: &Expr) -> Option<Vec<Expr>> {
    let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = expr else {
        return None;
    };
    let mut parts: Vec<Expr> = PARTS.iter().map(|_| number(0)).collect();
    for (position, arg) in list.args.iter().enumerate() {
        let (place, value) = match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => (position, value),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => {
                let name = name.value.to_lowercase();
                (PARTS.iter().position(|part| *part == name)?, value)
            }
            FunctionArg::ExprNamed { name: Expr::Identifier(name), arg, .. } => {
                let FunctionArgExpr::Expr(value) = arg else { return None };
                let name = name.value.to_lowercase();
                (PARTS.iter().position(|part| *part == name)?, value)
            }
            _ => return None,
        };
        *parts.get_mut(place)? = value.clone();
    }
    Some(parts)
}
