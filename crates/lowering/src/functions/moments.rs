//! Dates, times, timestamps and intervals.

use super::arithmetic::of_engine;
use super::{Make, Table, called, take};
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast};
use functions::datetime::extract;
use functions::datetime::moments::AGE;
use std::sync::Arc;
use store::catalog::SqlType as Held;

pub(super) const TABLE: Table = &[
    ("+(date,int4)", Make::Own(|_, args, of| days(args, Operator::Plus, of))),
    ("+(int4,date)", Make::Own(|_, args, of| days(swapped(args), Operator::Plus, of))),
    ("-(date,int4)", Make::Own(|_, args, of| days(args, Operator::Minus, of))),
    ("-(date,date)", Make::Own(days_between)),
    ("+(date,interval)", Make::Own(|_, args, of| date_plus(args, Operator::Plus, of))),
    ("-(date,interval)", Make::Own(|_, args, of| date_plus(args, Operator::Minus, of))),
    ("+(interval,date)", Make::Own(|_, args, of| date_plus(swapped(args), Operator::Plus, of))),
    ("+(date,time)", Make::Hidden("date_at_time")),
    ("+(time,date)", Make::Own(|of, args, to| of.hidden("date_at_time", swapped(args), to))),
    ("+(time,interval)", Make::Hidden("time_plus")),
    ("+(interval,time)", Make::Own(|of, args, to| of.hidden("time_plus", swapped(args), to))),
    ("-(time,interval)", Make::Hidden("time_minus")),
    ("-(time,time)", Make::Hidden("time_subtract")),
    (
        "+(timestamp,interval) +(timestamptz,interval)",
        Make::Own(|_, args, of| later(args, Operator::Plus, of)),
    ),
    (
        "-(timestamp,interval) -(timestamptz,interval)",
        Make::Own(|_, args, of| later(args, Operator::Minus, of)),
    ),
    (
        "+(interval,timestamp) +(interval,timestamptz)",
        Make::Own(|_, args, of| later(swapped(args), Operator::Plus, of)),
    ),
    ("-(timestamp,timestamp) -(timestamptz,timestamptz)", Make::Own(between)),
    ("+(interval,interval)", Make::Own(|_, args, of| later(args, Operator::Plus, of))),
    ("-(interval,interval)", Make::Own(|_, args, of| later(args, Operator::Minus, of))),
    ("*(interval,float8)", Make::Hidden("interval_multiply")),
    (
        "*(float8,interval)",
        Make::Own(|of, args, to| of.hidden("interval_multiply", swapped(args), to)),
    ),
    ("/(interval,float8)", Make::Hidden("interval_divide")),
    ("age(timestamp,timestamp) age(timestamptz,timestamptz)", Make::Own(age)),
    (
        "date_part(text,date) date_part(text,time) date_part(text,timestamp) date_part(text,timestamptz) \
         date_part(text,interval)",
        Make::Named("date_part"),
    ),
    (
        "extract(text,date) extract(text,time) extract(text,timestamp) extract(text,timestamptz) extract(text,interval)",
        Make::Own(extracted),
    ),
    ("date_trunc(text,timestamp) date_trunc(text,timestamptz)", Make::Own(truncated)),
    ("now() transaction_timestamp() statement_timestamp()", Make::Named("now")),
    (
        "timezone(text,timestamp) timezone(text,timestamptz) timezone(interval,timestamp) timezone(interval,timestamptz)",
        Make::Named("timezone"),
    ),
    ("make_date(int4,int4,int4)", Make::Named("make_date")),
    ("make_interval(int4,int4,int4,int4,int4,int4,float8)", Make::Named("make_interval")),
    ("justify_days(interval)", Make::Named("justify_days")),
    ("justify_hours(interval)", Make::Named("justify_hours")),
    ("justify_interval(interval)", Make::Named("justify_interval")),
    ("to_timestamp(float8)", Make::Named("to_timestamp")),
    ("pg_sleep(float8)", Make::Named("pg_sleep")),
];

fn swapped(mut arguments: Vec<Typed>) -> Vec<Typed> {
    arguments.reverse();
    arguments
}

/// A date a number of days later.
fn days(arguments: Vec<Typed>, operator: Operator, sql_type: SqlType) -> Result<Typed> {
    let [date, days] = take(arguments)?;
    let date = cast(date.expr, DataType::Int32);
    let sum = binary_expr(date, operator, days.expr);
    Typed::of(cast(sum, DataType::Date32), DataType::Date32, sql_type)
}

fn days_between(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [end, start] = take(arguments)?;
    let day = |date: Typed| cast(date.expr, DataType::Int32);
    let days = binary_expr(day(end), Operator::Minus, day(start));
    Typed::of(days, DataType::Int32, sql_type)
}

/// A date plus or minus an interval, which is a timestamp. If the interval is a constant of whole days, the result is a
/// conversion of a date, which comparisons with dates remove.
fn date_plus(arguments: Vec<Typed>, operator: Operator, sql_type: SqlType) -> Result<Typed> {
    let [date, interval] = take(arguments)?;
    let timestamp = Held::Timestamp.arrow();
    let expr = if is_whole_days(&interval.expr) {
        cast(binary_expr(date.expr, operator, interval.expr), timestamp.clone())
    } else {
        binary_expr(cast(date.expr, timestamp.clone()), operator, interval.expr)
    };
    Typed::of(expr, timestamp, sql_type)
}

/// Whether an expression is a constant interval without a time.
pub(super) fn is_whole_days(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _)
        if value.nanoseconds == 0)
}

/// A timestamp or interval plus or minus an interval.
fn later(arguments: Vec<Typed>, operator: Operator, sql_type: SqlType) -> Result<Typed> {
    let [moment, interval] = take(arguments)?;
    of_engine(moment, operator, interval, sql_type)
}

/// The time between two timestamps.
fn between(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let local = |moment: Typed| moment.converted(&Held::Timestamp.arrow());
    let arguments = arguments.into_iter().map(local).collect();
    lowering.hidden("timestamp_subtract", arguments, sql_type)
}

/// The time between two timestamps in years, months and days.
fn age(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let local = |moment: Typed| moment.converted(&Held::Timestamp.arrow());
    lowering.registered(AGE, arguments.into_iter().map(local).collect(), sql_type)
}

/// EXTRACT of a field that the statement names, since its type depends on the field.
fn extracted(_: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let Some(field) = arguments.first().and_then(|field| field.text().map(str::to_owned)) else {
        return missing("EXTRACT of a computed field");
    };
    let (expr, data_type) = called(&Arc::new(extract::of_field(&field)), arguments)?;
    Typed::of(expr, data_type, sql_type)
}

/// `date_trunc`, for the fields that the engine knows.
fn truncated(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    const FIELDS: [&str; 10] = [
        "microseconds",
        "milliseconds",
        "second",
        "minute",
        "hour",
        "day",
        "week",
        "month",
        "quarter",
        "year",
    ];
    let field = arguments.first().and_then(Typed::text).map(str::to_ascii_lowercase);
    match field {
        Some(field) if FIELDS.contains(&&*field) => {
            let mut arguments = arguments;
            let text = ScalarValue::Utf8(Some(field));
            if let Some(first) = arguments.first_mut() {
                *first = Typed::constant(text, Oid::TEXT.into());
            }
            lowering.registered("date_trunc", arguments, sql_type)
        }
        _ => missing("date_trunc to this field"),
    }
}
