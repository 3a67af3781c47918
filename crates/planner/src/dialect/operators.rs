//! Operators that become functions: `|/ x`, `||/ x`, `@ x`, `~x`, `x AT TIME ZONE z`.

use super::build::{call, cast, number, take};
use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType, Expr, UnaryOperator};
use functions::datetime::zones::AT_TIME_ZONE;

pub(super) fn rewrite(expr: &mut Expr) {
    match expr {
        Expr::UnaryOp { op, expr: inner } => {
            let name = match op {
                UnaryOperator::PGSquareRoot => "sqrt",
                UnaryOperator::PGCubeRoot => "cbrt",
                UnaryOperator::PGAbs => "abs",
                UnaryOperator::BitwiseNot => {
                    let inner = Box::new(Expr::Nested(Box::new(take(inner))));
                    let op = BinaryOperator::PGBitwiseXor;
                    let ones = Box::new(cast(number(-1), DataType::SmallInt(None)));
                    *expr = Expr::Nested(Box::new(Expr::BinaryOp { left: inner, op, right: ones }));
                    return;
                }
                _ => return,
            };
            *expr = call(name, vec![take(inner)]);
        }
        Expr::AtTimeZone { timestamp, time_zone } => {
            *expr = call(AT_TIME_ZONE, vec![take(time_zone), take(timestamp)]);
        }
        _ => {}
    }
}
