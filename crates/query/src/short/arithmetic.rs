//! Which computed values the short path gives: those that the engine's own SQL planner understands as PostgreSQL does.

use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr, Value};
use parser::names::fold;
use store::catalog::{Column, SqlType, Table};

/// Kinds of types within which operators mean the same to the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Numeric,
    Float,
    Text,
}

fn kind_of(sql_type: &SqlType) -> Option<Kind> {
    match sql_type {
        SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => Some(Kind::Integer),
        SqlType::Numeric { .. } => Some(Kind::Numeric),
        SqlType::Double => Some(Kind::Float),
        SqlType::Text | SqlType::Varchar(_) => Some(Kind::Text),
        _ => None,
    }
}

/// Whether a value for a column is known to mean the same to the engine: sums, differences and products of numbers of one
/// kind, and joined texts.
pub(super) fn is_known(value: &Expr, table: &Table, target: &Column) -> bool {
    kind_of(&target.sql_type).is_some_and(|kind| is_of(value, table, kind))
}

fn is_of(value: &Expr, table: &Table, kind: Kind) -> bool {
    match value {
        Expr::Identifier(name) => {
            let name = fold(name);
            let column = table.columns.iter().find(|column| !column.hidden && column.name == name);
            column.and_then(|column| kind_of(&column.sql_type)) == Some(kind)
        }
        Expr::Value(value) => match &value.value {
            Value::Placeholder(_) => true,
            Value::Number(number, _) => {
                let is_integer = number.to_string().bytes().all(|byte| byte.is_ascii_digit());
                kind != Kind::Text && (is_integer || kind != Kind::Integer)
            }
            Value::SingleQuotedString(_) => kind == Kind::Text,
            _ => false,
        },
        Expr::Nested(inner) => is_of(inner, table, kind),
        Expr::BinaryOp { left, op, right } => {
            let is_known = match op {
                BinaryOperator::Plus | BinaryOperator::Minus => kind != Kind::Text,
                BinaryOperator::Multiply => matches!(kind, Kind::Integer | Kind::Float),
                BinaryOperator::StringConcat => kind == Kind::Text,
                _ => false,
            };
            is_known && is_of(left, table, kind) && is_of(right, table, kind)
        }
        _ => false,
    }
}
