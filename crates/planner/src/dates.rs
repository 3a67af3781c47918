//! Sums of dates and intervals, and their comparison with dates.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast};
use store::catalog::SqlType;

/// A date plus or minus an interval, which is a timestamp. If the interval is a constant of whole
/// days, the result is a cast of a date, which [`as_dates`] removes in comparisons.
pub(super) fn date_plus(date: Expr, op: Operator, interval: Expr) -> Expr {
    let timestamp = SqlType::Timestamp.arrow();
    match &interval {
        Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _)
            if value.nanoseconds == 0 =>
        {
            cast(binary_expr(date, op, interval), timestamp)
        }
        _ => binary_expr(cast(date, timestamp), op, interval),
    }
}

/// The sides of a comparison without the casts of [`date_plus`], so that scans can use the zone
/// maps and keys of date columns.
pub(super) fn as_dates(left: Expr, right: Expr) -> (Expr, Expr) {
    (date_below(left), date_below(right))
}

/// The date below the cast of [`date_plus`]. Any other expression is returned unchanged.
pub(super) fn date_below(expr: Expr) -> Expr {
    match expr {
        Expr::Cast(cast)
            if *cast.field.data_type() == SqlType::Timestamp.arrow()
                && matches!(&*cast.expr, Expr::BinaryExpr(inner) if is_day(&inner.right)) =>
        {
            *cast.expr
        }
        expr => expr,
    }
}

fn is_day(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _)
        if value.nanoseconds == 0)
}
