//! Reads a value in binary format.

use super::{EPOCH_DAYS, EPOCH_MICROS, JSONB_VERSION};
use crate::assign::converted;
use crate::error::{Error, Result, SqlState};
use crate::moments;
use crate::numbers;
use bytes::Buf;
use datafusion::arrow::array::StructArray;
use datafusion::arrow::datatypes::{DataType, IntervalMonthDayNano};
use datafusion::common::ScalarValue;
use numerics::{Numeric, WireError};
use std::sync::Arc;
use store::catalog::{Attribute, SqlType, SystemType};

/// Nanoseconds per microsecond.
const NANOS_PER_MICRO: i64 = 1000;
const MICROS_PER_DAY: i64 = 86_400_000_000;

fn bad(sql_type: &SqlType) -> Error {
    let message = format!("incorrect binary data format for type {sql_type}");
    Error::new(SqlState::InvalidBinaryRepresentation, message)
}

fn out_of_range(what: &str) -> Error {
    Error::new(SqlState::DatetimeFieldOverflow, format!("{what} out of range"))
}

/// Reads a value of a type.
///
/// # Errors
/// 22P03: the bytes are no value of the type. 22008: a date or time is out of range. 22021: invalid UTF-8. 22003, 0A000: the value is not supported.
pub fn read(bytes: &[u8], sql_type: &SqlType) -> Result<ScalarValue> {
    let mut rest = bytes;
    let short = |_| bad(sql_type);
    let value = match sql_type {
        SqlType::Boolean => match rest.try_get_u8().map_err(short)? {
            0 => ScalarValue::Boolean(Some(false)),
            1 => ScalarValue::Boolean(Some(true)),
            _ => return Err(bad(sql_type)),
        },
        SqlType::SmallInt => ScalarValue::Int16(Some(rest.try_get_i16().map_err(short)?)),
        SqlType::Integer => ScalarValue::Int32(Some(rest.try_get_i32().map_err(short)?)),
        SqlType::BigInt => ScalarValue::Int64(Some(rest.try_get_i64().map_err(short)?)),
        SqlType::Real => ScalarValue::Float32(Some(rest.try_get_f32().map_err(short)?)),
        SqlType::Double => ScalarValue::Float64(Some(rest.try_get_f64().map_err(short)?)),
        SqlType::Numeric { .. } => {
            let number = Numeric::from_wire(std::mem::take(&mut rest)).map_err(refused)?;
            numbers::scalar(&number)
        }
        SqlType::System(of) => system(&mut rest, *of, sql_type)?,
        SqlType::Char(_) => {
            let all = std::mem::take(&mut rest);
            // Trailing blanks are insignificant.
            let end = all.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
            text(&all[..end])?
        }
        SqlType::Text | SqlType::Varchar(_) | SqlType::Json | SqlType::Other(_) => {
            text(std::mem::take(&mut rest))?
        }
        SqlType::Jsonb => match rest.try_get_u8().map_err(short)? {
            JSONB_VERSION => text(std::mem::take(&mut rest))?,
            other => {
                let message = format!("unsupported jsonb version number {other}");
                return Err(Error::new(SqlState::InternalError, message));
            }
        },
        SqlType::Uuid => {
            let uuid =
                uuid::Uuid::from_slice(std::mem::take(&mut rest)).map_err(|_| bad(sql_type))?;
            ScalarValue::Utf8View(Some(uuid.hyphenated().to_string()))
        }
        SqlType::Bytea => ScalarValue::BinaryView(Some(std::mem::take(&mut rest).to_vec())),
        SqlType::Date
        | SqlType::Time
        | SqlType::Timestamp
        | SqlType::TimestampTz
        | SqlType::Interval => moment(&mut rest, sql_type)?,
        SqlType::Precise(of, _) => return self::read(bytes, of),
        SqlType::User(_) => {
            let sent = sql_type.sent();
            match sent.attributes() {
                Some(attributes) => record(std::mem::take(&mut rest), &sent, attributes)?,
                None => return self::read(bytes, &sent),
            }
        }
        SqlType::Array(item) => list(std::mem::take(&mut rest), sql_type, item)?,
    };
    if rest.is_empty() { Ok(value) } else { Err(bad(sql_type)) }
}

/// A value of a type of the system catalogs.
fn system(rest: &mut &[u8], of: SystemType, sql_type: &SqlType) -> Result<ScalarValue> {
    let short = |_| bad(sql_type);
    Ok(match of {
        SystemType::Char => match rest.try_get_u8().map_err(short)? {
            0 => text(&[])?,
            byte if byte.is_ascii() => text(&[byte])?,
            _ => return Err(Error::unsupported("a \"char\" beyond ASCII is not supported")),
        },
        SystemType::Xid8 => ScalarValue::Int64(Some(rest.try_get_i64().map_err(short)?)),
        id if id.is_id() => ScalarValue::Int64(Some(rest.try_get_u32().map_err(short)?.into())),
        SystemType::Int2Vector => list(std::mem::take(rest), sql_type, &SqlType::SmallInt)?,
        SystemType::OidVector => {
            list(std::mem::take(rest), sql_type, &SqlType::System(SystemType::Oid))?
        }
        SystemType::PgLsn | SystemType::Inet | SystemType::AclItem => {
            return Err(Error::unsupported(format!(
                "values of type {sql_type} in binary format are not supported"
            )));
        }
        SystemType::Tid => {
            let block = rest.try_get_u32().map_err(short)?;
            text(format!("({block},{})", rest.try_get_u16().map_err(short)?).as_bytes())?
        }
        SystemType::Jsonpath if rest.first() == Some(&JSONB_VERSION) => {
            text(&std::mem::take(rest)[1..])?
        }
        _ => text(std::mem::take(rest))?,
    })
}

/// A row: the number of fields, then type, length and value of each.
fn record(mut bytes: &[u8], sql_type: &SqlType, attributes: &[Attribute]) -> Result<ScalarValue> {
    let short = |_| bad(sql_type);
    let DataType::Struct(fields) = sql_type.arrow() else { return Err(bad(sql_type)) };
    let count = bytes.try_get_i32().map_err(short)?;
    if usize::try_from(count) != Ok(attributes.len()) {
        let expected = attributes.len();
        let message = format!("wrong number of columns: {count}, expected {expected}");
        return Err(Error::new(SqlState::DatatypeMismatch, message));
    }
    let mut columns = Vec::with_capacity(fields.len());
    for (field, attribute) in fields.iter().zip(attributes) {
        let _type = bytes.try_get_u32().map_err(short)?;
        let length = bytes.try_get_i32().map_err(short)?;
        let value = match usize::try_from(length) {
            Ok(length) if length > bytes.len() => return Err(bad(sql_type)),
            Ok(length) => {
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                converted(&read(value, &attribute.sql_type)?, field.data_type())?
            }
            Err(_) => ScalarValue::try_from(field.data_type())?,
        };
        columns.push(value.to_array()?);
    }
    match bytes.is_empty() {
        true => Ok(ScalarValue::Struct(Arc::new(StructArray::try_new(fields, columns, None)?))),
        false => Err(bad(sql_type)),
    }
}

/// A date, time, timestamp or interval.
fn moment(rest: &mut &[u8], sql_type: &SqlType) -> Result<ScalarValue> {
    let short = |_| bad(sql_type);
    Ok(match sql_type {
        SqlType::Date => {
            let days = rest.try_get_i32().map_err(short)?;
            let read = match moments::is_infinite_date(days) {
                true => Some(days),
                false => moments::date(i64::from(days) + i64::from(EPOCH_DAYS)),
            };
            ScalarValue::Date32(Some(read.ok_or_else(|| out_of_range("date"))?))
        }
        SqlType::Time => {
            let micros = rest.try_get_i64().map_err(short)?;
            if !(0..=MICROS_PER_DAY).contains(&micros) {
                return Err(out_of_range("time"));
            }
            ScalarValue::Time64Microsecond(Some(micros))
        }
        SqlType::Timestamp | SqlType::TimestampTz => {
            let micros = rest.try_get_i64().map_err(short)?;
            let read = match moments::is_infinite(micros) {
                true => Some(micros),
                false => micros.checked_add(EPOCH_MICROS).and_then(moments::timestamp),
            };
            let micros = read.ok_or_else(|| out_of_range("timestamp"))?;
            let zone = (*sql_type == SqlType::TimestampTz).then(|| "+00:00".into());
            ScalarValue::TimestampMicrosecond(Some(micros), zone)
        }
        SqlType::Interval => {
            let micros = rest.try_get_i64().map_err(short)?;
            let days = rest.try_get_i32().map_err(short)?;
            let months = rest.try_get_i32().map_err(short)?;
            let nanos = micros.checked_mul(NANOS_PER_MICRO);
            let nanos = nanos.ok_or_else(|| out_of_range("interval"))?;
            let interval = IntervalMonthDayNano::new(months, days, nanos);
            ScalarValue::IntervalMonthDayNano(Some(interval))
        }
        _ => return Err(bad(sql_type)),
    })
}

fn text(bytes: &[u8]) -> Result<ScalarValue> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(ScalarValue::Utf8View(Some(text.to_owned()))),
        Err(_) => {
            let message = "invalid byte sequence for encoding \"UTF8\"";
            Err(Error::new(SqlState::CharacterNotInRepertoire, message))
        }
    }
}

/// The error of bytes that are no number.
fn refused(error: WireError) -> Error {
    let state = SqlState::of_code(error.sqlstate()).unwrap_or(SqlState::DataException);
    Error::new(state, error.to_string())
}

fn list(mut bytes: &[u8], sql_type: &SqlType, item: &SqlType) -> Result<ScalarValue> {
    let item = &item.sent();
    let short = |_| bad(sql_type);
    let dimensions = bytes.try_get_i32().map_err(short)?;
    let _has_nulls = bytes.try_get_i32().map_err(short)?;
    let _item_oid = bytes.try_get_u32().map_err(short)?;
    let mut values = Vec::new();
    match dimensions {
        0 => {}
        1 => {
            let count = bytes.try_get_i32().map_err(short)?;
            let _lower = bytes.try_get_i32().map_err(short)?;
            for _ in 0..count {
                let length = bytes.try_get_i32().map_err(short)?;
                let Ok(length) = usize::try_from(length) else {
                    values.push(ScalarValue::try_from(item.arrow())?);
                    continue;
                };
                if length > bytes.len() {
                    return Err(bad(sql_type));
                }
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                let value = read(value, item)?;
                values.push(converted(&value, &item.arrow())?);
            }
        }
        _ => return Err(Error::unsupported("arrays of several dimensions are not supported")),
    }
    if bytes.is_empty() {
        Ok(ScalarValue::List(ScalarValue::new_list_nullable(&values, &item.arrow())))
    } else {
        Err(bad(sql_type))
    }
}
