//! `SELECT 1`: an integer literal that is a column is an `integer`. DataFusion makes it a `bigint`.
//!
//! Most literals are narrowed in the logical plan (`crate::numbers`). Those that are columns are
//! narrowed before planning, because the types of recursive queries and parameters depend on them.

use super::build::{cast, take, text};
use datafusion::sql::sqlparser::ast::{
    DataType, ExactNumberInfo, Expr, Query, Select, SelectItem, SetExpr, Statement, Value,
    VisitorMut,
};
use parser::walk::visit_mut;
use std::ops::ControlFlow;

/// The maximum number of digits of a `numeric`.
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

/// Handles numbers that do not fit `numeric`. A large exponent makes it a `double precision`. Too
/// many digits are cast to `numeric`, which fails; DataFusion would read the number as text.
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
