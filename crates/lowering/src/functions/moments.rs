//! Dates, times, timestamps and intervals.

use super::arithmetic::of_engine;
use super::zones::in_zone;
use super::{Make, Table, called, take};
use crate::refusal::{Result, missing, unsupported};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::ValueFunction;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast};
use functions::datetime::moments::AGE;
use functions::datetime::{extract, local};
use std::sync::Arc;
use store::catalog::SqlType as Held;
use values::zone::Zone;

pub(super) const TABLE: Table = &[
    ("+(date,int4)", Make::Own(|l, args, of| days(l, args, Operator::Plus, of))),
    ("+(int4,date)", Make::Own(|l, args, of| days(l, swapped(args), Operator::Plus, of))),
    ("-(date,int4)", Make::Own(|l, args, of| days(l, args, Operator::Minus, of))),
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
        Make::Own(|of, args, to| later(of, args, Operator::Plus, to)),
    ),
    (
        "-(timestamp,interval) -(timestamptz,interval)",
        Make::Own(|of, args, to| later(of, args, Operator::Minus, to)),
    ),
    (
        "+(interval,timestamp) +(interval,timestamptz)",
        Make::Own(|of, args, to| later(of, swapped(args), Operator::Plus, to)),
    ),
    ("-(timestamp,timestamp) -(timestamptz,timestamptz)", Make::Own(between)),
    ("+(interval,interval)", Make::Own(|of, args, to| later(of, args, Operator::Plus, to))),
    ("-(interval,interval)", Make::Own(|of, args, to| later(of, args, Operator::Minus, to))),
    ("*(interval,float8)", Make::Hidden("interval_multiply")),
    (
        "*(float8,interval)",
        Make::Own(|of, args, to| of.hidden("interval_multiply", swapped(args), to)),
    ),
    ("/(interval,float8)", Make::Hidden("interval_divide")),
    ("age(timestamp,timestamp) age(timestamptz,timestamptz)", Make::Own(age)),
    ("age(timestamp) age(timestamptz)", Make::Own(age_today)),
    ("interval(time)", Make::Own(since_midnight)),
    ("time(interval)", Make::Own(of_day)),
    (
        "overlaps(time,time,time,time) overlaps(timestamp,timestamp,timestamp,timestamp) \
         overlaps(timestamptz,timestamptz,timestamptz,timestamptz) \
         overlaps(time,interval,time,time) overlaps(time,time,time,interval) overlaps(time,interval,time,interval) \
         overlaps(timestamp,interval,timestamp,timestamp) overlaps(timestamp,timestamp,timestamp,interval) \
         overlaps(timestamp,interval,timestamp,interval) \
         overlaps(timestamptz,interval,timestamptz,timestamptz) \
         overlaps(timestamptz,timestamptz,timestamptz,interval) \
         overlaps(timestamptz,interval,timestamptz,interval)",
        Make::Own(overlap),
    ),
    (
        "date_part(text,date) date_part(text,time) date_part(text,timestamp) date_part(text,timestamptz) \
         date_part(text,interval)",
        Make::Own(date_part),
    ),
    (
        "extract(text,date) extract(text,time) extract(text,timestamp) extract(text,timestamptz) extract(text,interval)",
        Make::Own(extracted),
    ),
    (
        "date_trunc(text,timestamp) date_trunc(text,interval) date_trunc(text,timestamptz,text)",
        Make::Named("date_trunc"),
    ),
    (
        "date_trunc(text,timestamptz)",
        Make::Own(|of, args, to| match of.zone() {
            Zone::UTC => of.registered("date_trunc", args, to),
            zone => in_zone(local::truncated(zone), args, to),
        }),
    ),
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
    ("make_time(int4,int4,float8)", Make::Named("make_time")),
    ("make_timestamp(int4,int4,int4,int4,int4,float8)", Make::Named("make_timestamp")),
    (
        "make_timestamptz(int4,int4,int4,int4,int4,float8)",
        Make::Own(|of, args, _| {
            of.instant(of.registered("make_timestamp", args, Oid::TIMESTAMP.into())?)
        }),
    ),
    ("make_timestamptz(int4,int4,int4,int4,int4,float8,text)", Make::Named("make_timestamptz")),
    (
        "date_bin(interval,timestamp,timestamp) date_bin(interval,timestamptz,timestamptz)",
        Make::Named("date_bin"),
    ),
    (
        "isfinite(date) isfinite(timestamp) isfinite(timestamptz) isfinite(interval)",
        Make::Named("isfinite"),
    ),
    ("clock_timestamp()", Make::Named("clock_timestamp")),
    ("pg_sleep(float8)", Make::Named("pg_sleep")),
];

fn swapped(mut arguments: Vec<Typed>) -> Vec<Typed> {
    arguments.reverse();
    arguments
}

/// A date a number of days later.
fn days(
    lowering: &Lowering<'_>,
    arguments: Vec<Typed>,
    operator: Operator,
    sql_type: SqlType,
) -> Result<Typed> {
    let [date, days] = take(arguments)?;
    let date = cast(cast(date.expr, DataType::Int32), DataType::Int64);
    let sum = binary_expr(date, operator, cast(days.expr, DataType::Int64));
    let sum = Typed { expr: sum, sql_type: Oid::INT8.into(), data_type: DataType::Int64 };
    lowering.hidden("date_of_days", vec![sum], sql_type)
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
fn later(
    lowering: &Lowering<'_>,
    arguments: Vec<Typed>,
    operator: Operator,
    sql_type: SqlType,
) -> Result<Typed> {
    let [moment, interval] = take(arguments)?;
    let zone = lowering.zone();
    if moment.sql_type.oid == Oid::TIMESTAMPTZ && !zone.is_utc() {
        let function = match operator {
            Operator::Plus => local::later(zone),
            _ => local::earlier(zone),
        };
        return in_zone(function, vec![moment, interval], sql_type);
    }
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
    let local = |moment: Typed| match moment.sql_type.oid {
        Oid::TIMESTAMPTZ => lowering.local_time(moment),
        _ => Ok(moment),
    };
    let locals = arguments.into_iter().map(local).collect::<Result<_>>()?;
    lowering.registered(AGE, locals, sql_type)
}

/// EXTRACT of a field that the statement names, since its type depends on the field.
fn extracted(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let Some(field) = arguments.first().and_then(|field| field.text().map(str::to_owned)) else {
        return missing("EXTRACT of a computed field");
    };
    let arguments = match local_field(lowering, arguments, sql_type)? {
        Local::Value(value) => return Ok(value),
        Local::Arguments(arguments) => arguments,
    };
    let (expr, data_type) = called(&Arc::new(extract::of_field(&field)), arguments)?;
    Typed::of(expr, data_type, sql_type)
}

/// The arguments of a function of a field, in the zone of the session.
enum Local {
    /// A field of the zone itself.
    Value(Typed),
    Arguments(Vec<Typed>),
}

/// The local time instead of a timestamp with time zone, where the field is one of the calendar or the clock.
fn local_field(
    lowering: &Lowering<'_>,
    mut arguments: Vec<Typed>,
    sql_type: SqlType,
) -> Result<Local> {
    let zone = lowering.zone();
    let [field, value] = &mut arguments[..] else { return missing("these arguments") };
    let is_timestamp = matches!(value.sql_type.oid, Oid::TIMESTAMP | Oid::TIMESTAMPTZ);
    if is_timestamp && field.text().is_some_and(|name| name.eq_ignore_ascii_case("julian")) {
        return unsupported(
            "the Julian day of a timestamp, whose digits depend on the time of day,",
        );
    }
    if zone.is_utc() || value.sql_type.oid != Oid::TIMESTAMPTZ {
        return Ok(Local::Arguments(arguments));
    }
    let Some(name) = field.text().map(str::to_ascii_lowercase) else {
        return unsupported("a computed field of a timestamp with time zone, with this TimeZone,");
    };
    let (divisor, is_rest) = match name.as_str() {
        "epoch" => return Ok(Local::Arguments(arguments)),
        "timezone" => (1, false),
        "timezone_h" | "timezone_hour" => (3600, false),
        "timezone_m" | "timezone_minute" => (60, true),
        _ => {
            *value = lowering.local_time(value.clone())?;
            return Ok(Local::Arguments(arguments));
        }
    };
    let whole = |number| Typed::constant(ScalarValue::Int32(Some(number)), Oid::INT4.into());
    let integer = SqlType::plain(Oid::INT4);
    let mut offset = in_zone(local::offset(zone), vec![value.clone()], integer)?;
    if is_rest {
        offset = of_engine(offset, Operator::Modulo, whole(3600), integer)?;
    }
    let part = of_engine(offset, Operator::Divide, whole(divisor), integer)?;
    lowering.plain(part, sql_type).map(Local::Value)
}

fn date_part(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    match local_field(lowering, arguments, sql_type)? {
        Local::Value(value) => Ok(value),
        Local::Arguments(mut arguments) => {
            // A date has the fields of its midnight.
            if let Some(date) = arguments.get_mut(1).filter(|value| value.sql_type.oid == Oid::DATE)
            {
                *date = lowering.plain(date.clone(), Oid::TIMESTAMP.into())?;
            }
            lowering.registered("date_part", arguments, sql_type)
        }
    }
}

/// The age of a timestamp at midnight today.
fn age_today(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [moment] = take(arguments)?;
    let today = lowering.value_function(ValueFunction::Date, Oid::DATE.into())?;
    let today = lowering.plain(today, Oid::TIMESTAMP.into())?;
    age(lowering, vec![today, moment], sql_type)
}

fn midnight() -> Typed {
    Typed::constant(ScalarValue::Time64Microsecond(Some(0)), Oid::TIME.into())
}

/// A time of day as the interval since midnight.
fn since_midnight(lowering: &Lowering<'_>, args: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [time] = take(args)?;
    lowering.hidden("time_subtract", vec![time, midnight()], sql_type)
}

/// The time of day that an interval gives: its hours below a day.
fn of_day(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let [interval] = take(arguments)?;
    lowering.hidden("time_plus", vec![midnight(), interval], sql_type)
}

/// OVERLAPS: a bound that is an interval is added to the one before it.
fn overlap(lowering: &Lowering<'_>, arguments: Vec<Typed>, sql_type: SqlType) -> Result<Typed> {
    let mut bounds: Vec<Typed> = Vec::with_capacity(arguments.len());
    for bound in arguments {
        let start = bounds.last().filter(|_| bound.sql_type.oid == Oid::INTERVAL).cloned();
        bounds.push(match start {
            Some(start) if start.sql_type.oid == Oid::TIME => {
                let of = start.sql_type;
                lowering.hidden("time_plus", vec![start, bound], of)?
            }
            Some(start) => {
                let of = start.sql_type;
                later(lowering, vec![start, bound], Operator::Plus, of)?
            }
            None => bound,
        });
    }
    lowering.registered("periods_overlap", bounds, sql_type)
}
