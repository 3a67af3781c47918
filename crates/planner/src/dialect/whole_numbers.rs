//! `SELECT 1`: a whole number that is a column is an `integer`, where the engine would have it a `bigint`.
//!
//! Most numbers are narrowed when the statement is planned ([`numbers`](crate::planner)). Those that are columns are
//! narrowed before, so that what is around them knows: the steps of a recursive query, parameters beside them.

use super::build::{cast, take, text};
use datafusion::sql::sqlparser::ast::{
    DataType, ExactNumberInfo, Expr, Query, Select, SelectItem, SetExpr, Statement, Value,
    VisitorMut,
};
use parser::walk::visit_mut;
use std::ops::ControlFlow;

/// Digits of a `numeric`, at most.
const DIGITS_MAX: usize = 38;

pub(super) fn rewrite(statement: &mut Statement) {
    struct Columns;
    impl VisitorMut for Columns {
        type Break = ();

        fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            for item in &mut select.projection {
                if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item
                {
                    narrow(expr);
                }
            }
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
            if let SetExpr::SetOperation { left, right, .. } = &mut *query.body {
                for side in [left, right] {
                    of_values(side);
                }
            }
            ControlFlow::Continue(())
        }
    }
    let _ = visit_mut(statement, &mut Columns);
}

fn of_values(body: &mut SetExpr) {
    let SetExpr::Values(values) = body else { return };
    values.rows.iter_mut().flat_map(|row| &mut row.content).for_each(narrow);
}

/// A number that no `numeric` holds: one with an exponent is a `double precision`. One with too many digits, which the
/// engine takes for text, is refused as a `numeric`.
pub(super) fn refuse_long(expr: &mut Expr) {
    let Expr::Value(value) = expr else { return };
    let Value::Number(number, _) = &value.value else { return };
    let number = number.to_string();
    if has_far_exponent(&number) {
        *expr = cast(text(number), DataType::DoublePrecision);
    } else if number.bytes().filter(u8::is_ascii_digit).count() > DIGITS_MAX {
        *expr = cast(text(number), DataType::Numeric(ExactNumberInfo::None));
    }
}

fn has_far_exponent(number: &str) -> bool {
    let exponent = number.split_once(['e', 'E']).and_then(|(_, exponent)| exponent.parse().ok());
    let digits_max = i64::try_from(DIGITS_MAX).unwrap_or(i64::MAX);
    exponent.is_some_and(|exponent: i64| exponent.abs() >= digits_max)
}

fn narrow(expr: &mut Expr) {
    let fits = match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.to_string().parse::<i32>().is_ok(),
            _ => false,
        },
        _ => false,
    };
    if fits {
        *expr = cast(take(expr), DataType::Integer(None));
    }
}
