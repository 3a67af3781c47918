//! Dates, times, timestamps and intervals.

use super::arithmetic::of_engine;
use super::zones::in_zone;
use super::{Make, Table, called, take};
use crate::refusal::{Result, missing, unsupported};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use analyzer::tree::{Literal, ValueFunction};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr, Operator, cast};
use functions::datetime::moments::{AGE, DATE_EARLIER, DATE_LATER};
use functions::datetime::{extract, local};
use std::sync::Arc;
use store::catalog::SqlType as Held;
use values::moments::{is_infinite, is_infinite_date};
use values::numbers;
use values::zone::Zone;

pub(super) const TABLE: Table = &[
    ("+(date,int4)", Make::Hidden("date_plus_days")),
    ("+(int4,date)", Make::Own(|of, args, to| of.hidden("date_plus_days", swapped(args), to))),
    ("-(date,int4)", Make::Hidden("date_minus_days")),
    ("-(date,date)", Make::Hidden("date_subtract")),
    ("+(date,interval)", Make::Own(|of, args, to| date_plus(of, args, Operator::Plus, to))),
    ("-(date,interval)", Make::Own(|of, args, to| date_plus(of, args, Operator::Minus, to))),
    (
        "+(interval,date)",
        Make::Own(|of, args, to| date_plus(of, swapped(args), Operator::Plus, to)),
    ),
    ("+(date,time) timestamp(date,time)", Make::Hidden("date_at_time")),
    (
        "timestamptz(date,time)",
        Make::Own(|of, args, _| {
            of.instant(of.hidden("date_at_time", args, Oid::TIMESTAMP.into())?)
        }),
    ),
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
    ("+(interval,interval)", Make::Hidden("interval_plus")),
    ("-(interval,interval)", Make::Hidden("interval_minus")),
    ("-(interval)", Make::Hidden("interval_neg")),
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
        "date_trunc(text,timestamptz)",
        Make::Own(|of, args, to| match of.zone() {
            Zone::UTC => of.registered("date_trunc", args, to),
            zone => in_zone(local::truncated(zone), args, to),
        }),
    ),
    ("now() transaction_timestamp()", Make::Named("now")),
    (
        "statement_timestamp()",
        // A transaction of one statement begins with it.
        Make::Own(|of, _, to| {
            let moments =
                ["now", "statement_timestamp"].map(|name| of.registered(name, Vec::new(), to));
            of.registered("greatest", moments.into_iter().collect::<Result<_>>()?, to)
        }),
    ),
    (
        "make_timestamptz(int4,int4,int4,int4,int4,float8)",
        Make::Own(|of, args, _| {
            of.instant(of.registered("make_timestamp", args, Oid::TIMESTAMP.into())?)
        }),
    ),
    (
        "pg_sleep_until(timestamptz)",
        Make::Own(|of, args, to| {
            let [moment] = take(args)?;
            wait_until(of, moment, to)
        }),
    ),
    (
        "pg_sleep_for(interval)",
        Make::Own(|of, args, to| {
            let [interval] = take(args)?;
            let moment =
                later(of, vec![clock(of)?, interval], Operator::Plus, Oid::TIMESTAMPTZ.into())?;
            wait_until(of, moment, to)
        }),
    ),
];

/// The time at which it is computed.
fn clock(lowering: &Lowering<'_>) -> Result<Typed> {
    lowering.registered("clock_timestamp", Vec::new(), Oid::TIMESTAMPTZ.into())
}

/// A wait until a moment.
fn wait_until(lowering: &Lowering<'_>, moment: Typed, sql_type: SqlType) -> Result<Typed> {
    let rest = between(lowering, vec![moment, clock(lowering)?], Oid::INTERVAL.into())?;
    let field = lowering.literal(&Literal::Text("epoch".to_owned()), Oid::TEXT.into())?;
    let seconds = lowering.registered("date_part", vec![field, rest], Oid::FLOAT8.into())?;
    lowering.registered("pg_sleep", vec![seconds], sql_type)
}

fn swapped(mut arguments: Vec<Typed>) -> Vec<Typed> {
    arguments.reverse();
    arguments
}

/// A date plus or minus an interval, which is a timestamp. If the interval is a constant of whole days, the result is a
/// conversion of a date, which comparisons with dates remove.
fn date_plus(
    lowering: &Lowering<'_>,
    arguments: Vec<Typed>,
    operator: Operator,
    sql_type: SqlType,
) -> Result<Typed> {
    let [date, interval] = take(arguments)?;
    if !is_whole_days(&interval.expr) {
        let midnight = lowering.plain(date, Oid::TIMESTAMP.into())?;
        return later(lowering, vec![midnight, interval], operator, sql_type);
    }
    let name = match operator {
        Operator::Plus => DATE_LATER,
        _ => DATE_EARLIER,
    };
    let day = lowering.hidden(name, vec![date, interval], Oid::DATE.into())?;
    let timestamp = Held::Timestamp.arrow();
    Typed::of(cast(day.expr, timestamp.clone()), timestamp, sql_type)
}

/// The date below a conversion to a timestamp that [`date_plus`] has made.
pub(super) fn day_of_sum(expr: &Expr) -> Option<&Expr> {
    let Expr::Cast(cast) = expr else { return None };
    match &*cast.expr {
        Expr::ScalarFunction(sum) if [DATE_LATER, DATE_EARLIER].contains(&sum.func.name()) => {
            Some(&cast.expr)
        }
        _ => None,
    }
}

/// Whether an expression is a constant interval without a time.
fn is_whole_days(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _)
        if value.nanoseconds == 0)
}

/// A timestamp plus or minus an interval.
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
    let name = match operator {
        Operator::Plus => "timestamp_plus",
        _ => "timestamp_minus",
    };
    lowering.hidden(name, vec![moment, interval], sql_type)
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
    if let Some(part) = of_infinity(&field, &arguments, sql_type)? {
        return Ok(part);
    }
    let of = arguments.get(1).map(|value| value.sql_type.oid);
    if field.eq_ignore_ascii_case("julian") && of.is_some_and(|of| of != Oid::DATE) {
        return unsupported(
            "the Julian day of a timestamp, whose digits depend on the time of day,",
        );
    }
    let arguments = match local_field(lowering, arguments, sql_type)? {
        Local::Value(value) => return Ok(value),
        Local::Arguments(arguments) => arguments,
    };
    let (expr, data_type) = called(&Arc::new(extract::of_field(&field)), arguments)?;
    Typed::of(expr, data_type, sql_type)
}

/// An infinite field of an infinite constant; `None` for other fields and values.
fn of_infinity(field: &str, arguments: &[Typed], sql_type: SqlType) -> Result<Option<Typed>> {
    let is_positive = match arguments.get(1).and_then(Typed::value) {
        Some(ScalarValue::Date32(Some(days))) if is_infinite_date(*days) => *days > 0,
        Some(ScalarValue::TimestampMicrosecond(Some(micros), _)) if is_infinite(*micros) => {
            *micros > 0
        }
        _ => return Ok(None),
    };
    if !extract::is_infinite_field(field) {
        return Ok(None);
    }
    let infinity = numbers::of_text(if is_positive { "Infinity" } else { "-Infinity" });
    Ok(infinity.map(|infinity| Typed::constant(infinity, sql_type)))
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
