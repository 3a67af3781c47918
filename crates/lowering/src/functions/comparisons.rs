//! Comparisons.

use super::{Make, Table, take};
use crate::numbers::holds_open;
use crate::refusal::{Result, missing};
use crate::scope::Lowering;
use crate::typed::Typed;
use analyzer::system::{Oid, SqlType};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions::string::rtrim;
use datafusion::logical_expr::{Operator, binary_expr, lit, when};
use datetimes::moments;
use functions::datetime::intervals;
use functions::numbers::common_types;
use store::catalog::SqlType as Held;

pub(super) const TABLE: Table = &[
    (
        "=(int2,int2) =(int2,int4) =(int2,int8) =(int4,int2) =(int4,int4) =(int4,int8) =(int8,int2) =(int8,int4) \
         =(int8,int8) =(float4,float4) =(float4,float8) =(float8,float4) =(float8,float8) =(numeric,numeric) =(bool,bool) \
         =(text,text) =(bpchar,bpchar) =(name,name) =(name,text) =(text,name) =(char,char) =(bytea,bytea) =(date,date) \
         =(date,timestamp) =(date,timestamptz) =(timestamp,date) =(timestamp,timestamp) =(timestamp,timestamptz) \
         =(timestamptz,date) =(timestamptz,timestamp) =(timestamptz,timestamptz) =(time,time) =(interval,interval) \
         =(uuid,uuid) =(jsonb,jsonb) =(oid,oid) =(tid,tid) =(xid,xid) =(xid,int4) =(anyarray,anyarray) =(record,record) \
         =(anyenum,anyenum) =(xid8,xid8) =(oidvector,oidvector) =(cid,cid)",
        Make::Compare(Operator::Eq),
    ),
    (
        "<>(int2,int2) <>(int2,int4) <>(int2,int8) <>(int4,int2) <>(int4,int4) <>(int4,int8) <>(int8,int2) <>(int8,int4) \
         <>(int8,int8) <>(float4,float4) <>(float4,float8) <>(float8,float4) <>(float8,float8) <>(numeric,numeric) \
         <>(bool,bool) <>(text,text) <>(bpchar,bpchar) <>(name,name) <>(name,text) <>(text,name) <>(char,char) \
         <>(bytea,bytea) <>(date,date) <>(date,timestamp) <>(date,timestamptz) <>(timestamp,date) \
         <>(timestamp,timestamp) <>(timestamp,timestamptz) <>(timestamptz,date) <>(timestamptz,timestamp) \
         <>(timestamptz,timestamptz) <>(time,time) <>(interval,interval) <>(uuid,uuid) <>(jsonb,jsonb) <>(oid,oid) <>(tid,tid) \
         <>(xid,xid) <>(anyarray,anyarray) <>(record,record) \
         <>(anyenum,anyenum) <>(xid8,xid8) <>(oidvector,oidvector) <>(xid,int4)",
        Make::Compare(Operator::NotEq),
    ),
    (
        "<(int2,int2) <(int2,int4) <(int2,int8) <(int4,int2) <(int4,int4) <(int4,int8) <(int8,int2) <(int8,int4) \
         <(int8,int8) <(float4,float4) <(float4,float8) <(float8,float4) <(float8,float8) <(numeric,numeric) <(bool,bool) \
         <(text,text) <(bpchar,bpchar) <(name,name) <(name,text) <(text,name) <(char,char) <(bytea,bytea) <(date,date) \
         <(date,timestamp) <(date,timestamptz) <(timestamp,date) <(timestamp,timestamp) <(timestamp,timestamptz) \
         <(timestamptz,date) <(timestamptz,timestamp) <(timestamptz,timestamptz) <(time,time) <(interval,interval) \
         <(uuid,uuid) <(jsonb,jsonb) <(oid,oid) <(tid,tid) ~<~(text,text) ~<~(bpchar,bpchar) <(anyarray,anyarray) <(record,record) \
         <(anyenum,anyenum) <(xid8,xid8) <(oidvector,oidvector)",
        Make::Compare(Operator::Lt),
    ),
    (
        "<=(int2,int2) <=(int2,int4) <=(int2,int8) <=(int4,int2) <=(int4,int4) <=(int4,int8) <=(int8,int2) <=(int8,int4) \
         <=(int8,int8) <=(float4,float4) <=(float4,float8) <=(float8,float4) <=(float8,float8) <=(numeric,numeric) \
         <=(bool,bool) <=(text,text) <=(bpchar,bpchar) <=(name,name) <=(name,text) <=(text,name) <=(char,char) \
         <=(bytea,bytea) <=(date,date) <=(date,timestamp) <=(date,timestamptz) <=(timestamp,date) \
         <=(timestamp,timestamp) <=(timestamp,timestamptz) <=(timestamptz,date) <=(timestamptz,timestamp) \
         <=(timestamptz,timestamptz) <=(time,time) <=(interval,interval) <=(uuid,uuid) <=(jsonb,jsonb) <=(oid,oid) <=(tid,tid) \
         ~<=~(text,text) ~<=~(bpchar,bpchar) <=(anyarray,anyarray) <=(record,record) \
         <=(anyenum,anyenum) <=(xid8,xid8) <=(oidvector,oidvector)",
        Make::Compare(Operator::LtEq),
    ),
    (
        ">(int2,int2) >(int2,int4) >(int2,int8) >(int4,int2) >(int4,int4) >(int4,int8) >(int8,int2) >(int8,int4) \
         >(int8,int8) >(float4,float4) >(float4,float8) >(float8,float4) >(float8,float8) >(numeric,numeric) >(bool,bool) \
         >(text,text) >(bpchar,bpchar) >(name,name) >(name,text) >(text,name) >(char,char) >(bytea,bytea) >(date,date) \
         >(date,timestamp) >(date,timestamptz) >(timestamp,date) >(timestamp,timestamp) >(timestamp,timestamptz) \
         >(timestamptz,date) >(timestamptz,timestamp) >(timestamptz,timestamptz) >(time,time) >(interval,interval) \
         >(uuid,uuid) >(jsonb,jsonb) >(oid,oid) >(tid,tid) ~>~(text,text) ~>~(bpchar,bpchar) >(anyarray,anyarray) >(record,record) \
         >(anyenum,anyenum) >(xid8,xid8) >(oidvector,oidvector)",
        Make::Compare(Operator::Gt),
    ),
    (
        ">=(int2,int2) >=(int2,int4) >=(int2,int8) >=(int4,int2) >=(int4,int4) >=(int4,int8) >=(int8,int2) >=(int8,int4) \
         >=(int8,int8) >=(float4,float4) >=(float4,float8) >=(float8,float4) >=(float8,float8) >=(numeric,numeric) \
         >=(bool,bool) >=(text,text) >=(bpchar,bpchar) >=(name,name) >=(name,text) >=(text,name) >=(char,char) \
         >=(bytea,bytea) >=(date,date) >=(date,timestamp) >=(date,timestamptz) >=(timestamp,date) \
         >=(timestamp,timestamp) >=(timestamp,timestamptz) >=(timestamptz,date) >=(timestamptz,timestamp) \
         >=(timestamptz,timestamptz) >=(time,time) >=(interval,interval) >=(uuid,uuid) >=(jsonb,jsonb) >=(oid,oid) >=(tid,tid) \
         ~>=~(text,text) ~>=~(bpchar,bpchar) >=(anyarray,anyarray) >=(record,record) \
         >=(anyenum,anyenum) >=(xid8,xid8) >=(oidvector,oidvector)",
        Make::Compare(Operator::GtEq),
    ),
    (
        "int2larger(int2,int2) int4larger(int4,int4) int8larger(int8,int8) float4larger(float4,float4) \
         float8larger(float8,float8) numeric_larger(numeric,numeric) text_larger(text,text) bpchar_larger(bpchar,bpchar) \
         date_larger(date,date) time_larger(time,time) timestamp_larger(timestamp,timestamp) \
         timestamptz_larger(timestamptz,timestamptz) interval_larger(interval,interval) array_larger(anyarray,anyarray) \
         oidlarger(oid,oid) tidlarger(tid,tid) enum_larger(anyenum,anyenum)",
        Make::Own(|of, args, to| extreme(of, args, true, to)),
    ),
    (
        "int2smaller(int2,int2) int4smaller(int4,int4) int8smaller(int8,int8) float4smaller(float4,float4) \
         float8smaller(float8,float8) numeric_smaller(numeric,numeric) text_smaller(text,text) \
         bpchar_smaller(bpchar,bpchar) date_smaller(date,date) time_smaller(time,time) \
         timestamp_smaller(timestamp,timestamp) timestamptz_smaller(timestamptz,timestamptz) \
         interval_smaller(interval,interval) array_smaller(anyarray,anyarray) oidsmaller(oid,oid) tidsmaller(tid,tid) \
         enum_smaller(anyenum,anyenum)",
        Make::Own(|of, args, to| extreme(of, args, false, to)),
    ),
];

/// The greater or the lesser of two values, of equal ones the second, but the first of `char`. NULL if one of them is.
fn extreme(
    lowering: &Lowering<'_>,
    arguments: Vec<Typed>,
    is_greatest: bool,
    sql_type: SqlType,
) -> Result<Typed> {
    let [left, right] = take(lowering.together(arguments, sql_type)?)?;
    if left.expr.is_volatile() || right.expr.is_volatile() {
        return missing("a volatile value here");
    }
    let known = left.expr.clone().is_not_null().and(right.expr.clone().is_not_null());
    let is_char = sql_type.oid == Oid::BPCHAR;
    let values = if is_char { vec![left, right] } else { vec![right, left] };
    let best = lowering.extreme_of(values, is_greatest, sql_type)?;
    Ok(Typed { expr: when(known, best.expr).end()?, ..best })
}

pub(super) fn build(
    lowering: &Lowering<'_>,
    operator: Operator,
    [left, right]: [Typed; 2],
) -> Result<Typed> {
    if let Some(compared) = by_days(lowering, &left, operator, &right) {
        return Ok(compared);
    }
    if let Some(swapped) = operator.swap()
        && let Some(compared) = by_days(lowering, &right, swapped, &left)
    {
        return Ok(compared);
    }
    let (mut left, mut right) = sides(lowering, left, right)?;
    let is_order = !matches!(operator, Operator::Eq | Operator::NotEq);
    let is_array = left.sql_type.oid.element().is_some() && left.data_type.is_nested();
    if is_order && (is_array || left.sql_type.oid == Oid::TID) {
        (left, right) = (lowering.order_key(left)?, lowering.order_key(right)?);
    }
    Ok(Typed::boolean(binary_expr(left.expr, operator, right.expr)))
}

/// A date compared with a constant timestamp, as a comparison of dates: scans answer it by zone maps and keys, and no value
/// is converted. `None` for other comparisons.
fn by_days(
    lowering: &Lowering<'_>,
    date: &Typed,
    operator: Operator,
    moment: &Typed,
) -> Option<Typed> {
    let has_date = date.sql_type.oid == Oid::DATE && date.value().is_none();
    let is_local = moment.sql_type.oid == Oid::TIMESTAMP
        || moment.sql_type.oid == Oid::TIMESTAMPTZ && lowering.zone().is_utc();
    let Some(ScalarValue::TimestampMicrosecond(Some(micros), _)) = moment.value() else {
        return None;
    };
    if !has_date || !is_local {
        return None;
    }
    let day = moments::date_of(*micros);
    let compared =
        |operator| binary_expr(date.expr.clone(), operator, lit(ScalarValue::Date32(Some(day))));
    Some(Typed::boolean(match (moments::is_midnight(*micros), operator) {
        (true, operator) => compared(operator),
        (false, Operator::Lt | Operator::LtEq) => compared(Operator::LtEq),
        (false, Operator::Gt | Operator::GtEq) => compared(Operator::Gt),
        // No date is such a time; NULL stays NULL.
        (false, Operator::Eq) => compared(Operator::Lt).and(compared(Operator::Gt)),
        (false, Operator::NotEq) => compared(Operator::LtEq).or(compared(Operator::Gt)),
        (false, _) => return None,
    }))
}

/// Both sides of a comparison with the same Arrow type.
pub(crate) fn sides(lowering: &Lowering<'_>, left: Typed, right: Typed) -> Result<(Typed, Typed)> {
    let (left, right) = lowering.as_moments(left, right)?;
    let pair = (left.sql_type.oid, right.sql_type.oid);
    if pair == (Oid::INTERVAL, Oid::INTERVAL) {
        return Ok((length(left), length(right)));
    }
    if pair == (Oid::JSONB, Oid::JSONB) {
        return Ok((lowering.equality_key(left)?, lowering.equality_key(right)?));
    }
    if pair.0.is_row() && pair.1.is_row() {
        return lowering.record_keys(left, right);
    }
    if pair == (Oid::BPCHAR, Oid::BPCHAR) {
        return Ok((without_blanks(left), without_blanks(right)));
    }
    let (left, right) = match pair {
        (Oid::DATE, Oid::TIMESTAMP) => (left, as_date(right)),
        (Oid::TIMESTAMP, Oid::DATE) => (as_date(left), right),
        _ => (left, right),
    };
    if holds_open(&left.data_type) || holds_open(&right.data_type) {
        return Ok((left.number_key(), right.number_key()));
    }
    match together(&left.data_type, &right.data_type) {
        Some(data_type) => {
            let (left, right) = (left.converted(&data_type), right.converted(&data_type));
            // The engine's joins tell -0 and 0 apart.
            if data_type.is_floating() && left.value().is_none() && right.value().is_none() {
                return Ok((with_one_zero(left), with_one_zero(right)));
            }
            // The engine's joins lose arrays with NULL among their items.
            match data_type.is_nested() && Lowering::has_array_key(left.sql_type) {
                true => Ok((lowering.order_key(left)?, lowering.order_key(right)?)),
                false => Ok((left, right)),
            }
        }
        None => missing(format!("a comparison of {} with {}", left.sql_type, right.sql_type)),
    }
}

/// A value and the items of a list with the same Arrow type.
pub(crate) fn with_list(
    lowering: &Lowering<'_>,
    value: Typed,
    items: Vec<Typed>,
) -> Result<(Typed, Vec<Typed>)> {
    let mut value = value;
    let mut alike = Vec::with_capacity(items.len());
    for item in items {
        let (moved, item) = lowering.as_moments(value, item)?;
        value = moved;
        alike.push(item);
    }
    let items = alike;
    let bare = |value: Typed| match value.sql_type.oid {
        Oid::BPCHAR | Oid::JSONB => lowering.equality_key(value),
        _ => Ok(value),
    };
    if std::iter::once(&value).chain(&items).any(|value| holds_open(&value.data_type)) {
        return Ok((value.number_key(), items.into_iter().map(Typed::number_key).collect()));
    }
    let (value, items) = (bare(value)?, items.into_iter().map(bare).collect::<Result<Vec<_>>>()?);
    let data_type = items
        .iter()
        .try_fold(value.data_type.clone(), |known, item| together(&known, &item.data_type));
    match data_type {
        Some(data_type) => {
            let items = items.into_iter().map(|item| item.converted(&data_type)).collect();
            Ok((value.converted(&data_type), items))
        }
        None => missing("a list of these types"),
    }
}

/// The type in which values of two Arrow types are compared.
fn together(left: &DataType, right: &DataType) -> Option<DataType> {
    use DataType as D;
    Some(match (left, right) {
        (left, right) if left == right => left.clone(),
        (D::Decimal128(..), D::Decimal128(..)) => common_types::common(left, right),
        (left, right) if left.is_integer() && right.is_integer() => {
            let is_wider = left.primitive_width() > right.primitive_width();
            if is_wider { left.clone() } else { right.clone() }
        }
        (left, right) if left.is_floating() && right.is_floating() => D::Float64,
        (D::Date32, D::Timestamp(..)) => right.clone(),
        (D::Timestamp(..), D::Date32) => left.clone(),
        // In UTC both are the same numbers.
        (D::Timestamp(..), D::Timestamp(..)) => Held::Timestamp.arrow(),
        (D::List(item), D::List(other))
            if together(item.data_type(), other.data_type()).is_some() =>
        {
            let item = item
                .as_ref()
                .clone()
                .with_data_type(together(item.data_type(), other.data_type())?);
            D::List(item.into())
        }
        _ => return None,
    })
}

/// A value of `char` without trailing blanks, which do not count. `char(n)` is held without them.
pub(crate) fn without_blanks(value: Typed) -> Typed {
    if value.sql_type.modifier >= 0 {
        return value;
    }
    if let Some(text) = value.text() {
        let text = ScalarValue::Utf8View(Some(text.trim_end_matches(' ').to_owned()));
        return Typed::constant(text, value.sql_type);
    }
    let expr = rtrim().call(vec![value.expr, lit(ScalarValue::Utf8View(Some(" ".to_owned())))]);
    Typed { expr, ..value }
}

/// A floating-point number with 0 for -0, which the engine's sorts tell apart.
pub(crate) fn with_one_zero(value: Typed) -> Typed {
    let zero = match value.data_type {
        DataType::Float32 => ScalarValue::Float32(Some(0.0)),
        DataType::Float64 => ScalarValue::Float64(Some(0.0)),
        _ => return value,
    };
    match value.value() {
        Some(_) => value,
        None => Typed { expr: binary_expr(value.expr, Operator::Plus, lit(zero)), ..value },
    }
}

/// The length of an interval, by which intervals are compared.
pub(crate) fn length(interval: Typed) -> Typed {
    let expr = intervals::length().call(vec![interval.expr]);
    Typed { expr, sql_type: Oid::NUMERIC.into(), data_type: DataType::Decimal128(38, 0) }
}

/// The date below a conversion to a timestamp, so that scans can use the zone maps and keys of date columns. Other values
/// are unchanged.
fn as_date(timestamp: Typed) -> Typed {
    match super::moments::day_of_sum(&timestamp.expr) {
        Some(day) => Typed { expr: day.clone(), data_type: DataType::Date32, ..timestamp },
        None => timestamp,
    }
}
