//! Values of JavaScript as a column.

use super::runtime::Program;
use crate::definition::Definition;
use crate::failure::{no_value, out_of_memory, require_no_zero};
use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    StringViewArray,
};
use rquickjs::{Coerced, Object, TypedArray, Value};
use std::fmt::Write;
use std::sync::Arc;
use store::catalog::{Attribute, SqlType};
use values::assign::{Excess, fit, input};
use values::error::{Error, Result, SqlState};
use values::style::Style;

/// The values of a column so far.
pub(super) struct Results<'a> {
    definition: &'a Definition,
    sql_type: &'a SqlType,
    values: Values,
    /// Bytes of texts.
    bytes: usize,
}

enum Values {
    Truths(Vec<Option<bool>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

/// After how many items of an array the statement is asked whether it goes on.
const CHECK_EVERY: usize = 4096;

/// How deep arrays nest.
const DIMENSIONS_MAX: usize = 6;

impl<'a> Results<'a> {
    /// A column without values, for a number of rows.
    pub(super) fn new(definition: &'a Definition, sql_type: &'a SqlType, rows: usize) -> Self {
        let values = match sql_type {
            SqlType::Boolean => Values::Truths(Vec::with_capacity(rows)),
            SqlType::SmallInt | SqlType::Integer | SqlType::BigInt => {
                Values::Integers(Vec::with_capacity(rows))
            }
            SqlType::Real | SqlType::Double => Values::Numbers(Vec::with_capacity(rows)),
            _ => Values::Texts(Vec::with_capacity(rows)),
        };
        Self { definition, sql_type, values, bytes: 0 }
    }

    /// About as many bytes as the values have.
    pub(super) fn bytes(&self) -> usize {
        let (of_each, count) = match &self.values {
            Values::Truths(all) => (1, all.len()),
            Values::Integers(all) => (8, all.len()),
            Values::Numbers(all) => (8, all.len()),
            Values::Texts(all) => (8, all.len()),
        };
        self.bytes + of_each * count
    }

    /// Adds the value of a row.
    pub(super) fn push<'js>(
        &mut self,
        program: &Program<'_, 'js>,
        value: &Value<'js>,
    ) -> Result<()> {
        let (is_null, of) = (value.is_null() || value.is_undefined(), self.sql_type);
        match &mut self.values {
            Values::Truths(all) if is_null => all.push(None),
            Values::Integers(all) if is_null => all.push(None),
            Values::Numbers(all) if is_null => all.push(None),
            Values::Truths(all) => match value.as_bool() {
                Some(truth) => all.push(Some(truth)),
                None => return Err(no_value(self.definition, of, &named(program, value))),
            },
            Values::Integers(all) => all.push(Some(integer(program, value, of)?)),
            Values::Numbers(all) => all.push(Some(number(program, value, of)?)),
            Values::Texts(all) => {
                let text = text(program, value, of, 0)?;
                self.bytes += text.as_ref().map_or(0, String::len);
                let limit = self.definition.limits.output;
                if self.bytes > limit {
                    return Err(out_of_memory(&self.definition.name, limit));
                }
                all.push(text);
            }
        }
        Ok(())
    }

    /// The column.
    pub(super) fn column(self) -> Result<ArrayRef> {
        let result = self.sql_type;
        Ok(match (self.values, result) {
            (Values::Truths(all), _) => Arc::new(BooleanArray::from(all)),
            (Values::Integers(all), SqlType::SmallInt) => {
                Arc::new(Int16Array::from(narrowed(all, "smallint")?))
            }
            (Values::Integers(all), SqlType::Integer) => {
                Arc::new(Int32Array::from(narrowed(all, "integer")?))
            }
            (Values::Integers(all), _) => Arc::new(Int64Array::from(all)),
            (Values::Numbers(all), SqlType::Real) => {
                let real = |number: f64| match number as f32 {
                    real if real.is_infinite() && number.is_finite() => Err(beyond("real")),
                    real => Ok(real),
                };
                let reals = all.into_iter().map(|number| number.map(real).transpose());
                Arc::new(Float32Array::from(reals.collect::<Result<Vec<_>>>()?))
            }
            (Values::Numbers(all), _) => Arc::new(Float64Array::from(all)),
            (Values::Texts(all), _) => {
                let texts: ArrayRef = Arc::new(all.into_iter().collect::<StringViewArray>());
                fit(input(&texts, result, Style::default())?, result, Excess::Refuse)?
            }
        })
    }
}

fn beyond(what: &str) -> Error {
    Error::new(SqlState::NumericValueOutOfRange, format!("{what} out of range"))
}

fn narrowed<T: TryFrom<i64>>(all: Vec<Option<i64>>, what: &str) -> Result<Vec<Option<T>>> {
    let narrow = |value: i64| T::try_from(value).map_err(|_| beyond(what));
    all.into_iter().map(|value| value.map(narrow).transpose()).collect()
}

/// How messages name a value.
pub(super) fn named<'js>(program: &Program<'_, 'js>, value: &Value<'js>) -> String {
    let is_plain = value.is_number() || value.is_bool() || value.is_big_int();
    match coerced(program, value).ok().filter(|_| is_plain) {
        Some(text) => text,
        None if value.is_string() => "a string".to_owned(),
        None if value.is_array() => "an array".to_owned(),
        None if value.is_function() => "a function".to_owned(),
        None if value.is_promise() => "a promise".to_owned(),
        None if value.is_object() => "an object".to_owned(),
        None => format!("a value of type {}", value.type_name()),
    }
}

/// The value as JavaScript makes a string of it.
fn coerced<'js>(program: &Program<'_, 'js>, value: &Value<'js>) -> Result<String> {
    let text = value.get::<Coerced<String>>();
    text.map(|text| text.0).map_err(|error| program.failed(&error))
}

fn integer<'js>(program: &Program<'_, 'js>, value: &Value<'js>, of: &SqlType) -> Result<i64> {
    /// The first numbers that are no 64-bit integers.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let none = || no_value(program.definition(), of, &named(program, value));
    if let Some(number) = value.as_number() {
        return match number {
            whole if whole.fract() != 0.0 || !whole.is_finite() => Err(none()),
            whole if (-BEYOND..BEYOND).contains(&whole) => Ok(whole as i64),
            _ => Err(beyond(&of.to_string())),
        };
    }
    if value.is_big_int() {
        let beyond = |_| beyond(&of.to_string());
        return coerced(program, value)?.parse().map_err(beyond);
    }
    let text = value.as_string().map(rquickjs::String::to_string);
    text.and_then(|text| text.ok()?.trim().parse().ok()).ok_or_else(none)
}

fn number<'js>(program: &Program<'_, 'js>, value: &Value<'js>, of: &SqlType) -> Result<f64> {
    let none = || no_value(program.definition(), of, &named(program, value));
    if let Some(number) = value.as_number() {
        return Ok(number);
    }
    if value.is_big_int() || value.is_string() {
        return coerced(program, value)?.trim().parse().map_err(|_| none());
    }
    Err(none())
}

/// The value as the input function of a type reads it. `None` for NULL.
fn text<'js>(
    program: &Program<'_, 'js>,
    value: &Value<'js>,
    sql_type: &SqlType,
    depth: usize,
) -> Result<Option<String>> {
    if value.is_null() || value.is_undefined() {
        return Ok(None);
    }
    let failed = |error: rquickjs::Error| program.failed(&error);
    let text = match sql_type.representation() {
        SqlType::Json | SqlType::Jsonb => {
            let text = program.ctx.json_stringify(value.clone()).map_err(failed)?;
            match text {
                Some(text) => text.to_string().map_err(failed)?,
                None => return Ok(None),
            }
        }
        SqlType::Array(item) if value.is_array() => list(program, value, item, depth)?,
        row if let Some(attributes) = row.attributes()
            && value.is_object() =>
        {
            record(program, value, attributes, depth)?
        }
        SqlType::Bytea if value.is_object() => bytes(program, value)?,
        SqlType::Date | SqlType::Timestamp | SqlType::TimestampTz if value.is_object() => {
            moment(program, value, sql_type)?
        }
        _ if value.is_object() || value.is_symbol() => {
            return Err(no_value(program.definition(), sql_type, &named(program, value)));
        }
        _ => coerced(program, value)?,
    };
    require_no_zero(&text)?;
    Ok(Some(text))
}

/// The length of an array, which may be longer than its items.
pub(super) fn length<'js>(program: &Program<'_, 'js>, array: &Object<'js>) -> Result<usize> {
    let length = array.get::<_, f64>("length").map_err(|error| program.failed(&error))?;
    let limit = program.definition().limits.output;
    match length > limit as f64 {
        true => Err(out_of_memory(&program.definition().name, limit)),
        false => Ok(length as usize),
    }
}

/// The literal of an array.
fn list<'js>(
    program: &Program<'_, 'js>,
    value: &Value<'js>,
    item: &SqlType,
    depth: usize,
) -> Result<String> {
    let Some(array) = value.as_object().filter(|_| depth < DIMENSIONS_MAX) else {
        return Err(no_value(program.definition(), item, "an array of too many dimensions"));
    };
    let limit = program.definition().limits.output;
    let mut literal = String::from("{");
    for at in 0..length(program, array)? {
        let value =
            array.get::<_, Value<'js>>(at as u32).map_err(|error| program.failed(&error))?;
        if at > 0 {
            literal.push(',');
        }
        let is_inner = value.is_array()
            && !matches!(item, SqlType::Json | SqlType::Jsonb)
            && item.attributes().is_none();
        if is_inner {
            literal.push_str(&list(program, &value, item, depth + 1)?);
        } else if let Some(text) = text(program, &value, item, depth)? {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(literal, "\"{escaped}\"");
        } else {
            literal.push_str("NULL");
        }
        if at % CHECK_EVERY == 0 {
            executor::check()?;
        }
        if literal.len() > limit {
            return Err(out_of_memory(&program.definition().name, limit));
        }
    }
    literal.push('}');
    Ok(literal)
}

/// The literal of a row of a composite type.
fn record<'js>(
    program: &Program<'_, 'js>,
    value: &Value<'js>,
    attributes: &[Attribute],
    depth: usize,
) -> Result<String> {
    let names = attributes.iter().map(|attribute| attribute.name.as_str());
    let limit = program.definition().limits.output;
    let mut literal = String::from("(");
    let values = fields(program, value, names)?;
    for (at, (value, attribute)) in values.iter().zip(attributes).enumerate() {
        if at > 0 {
            literal.push(',');
        }
        if let Some(text) = text(program, value, &attribute.sql_type, depth)? {
            let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(literal, "\"{escaped}\"");
        }
        if literal.len() > limit {
            return Err(out_of_memory(&program.definition().name, limit));
        }
    }
    literal.push(')');
    Ok(literal)
}

/// The values of a row: those of an object with the names of the columns, or of an array in their order.
pub(super) fn fields<'js, 'a>(
    program: &Program<'_, 'js>,
    value: &Value<'js>,
    names: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Result<Vec<Value<'js>>> {
    let (definition, count) = (program.definition(), names.len());
    let failed = |error: rquickjs::Error| program.failed(&error);
    if let Some(array) = value.as_array() {
        let length = length(program, array)?;
        if length != count {
            let what = format!("an array of {length} values");
            return Err(no_value(definition, format!("row of {count} columns"), &what));
        }
        return (0..count).map(|at| array.get(at).map_err(failed)).collect();
    }
    let Some(object) = value.as_object().filter(|object| !object.is_function()) else {
        let what = named(program, value);
        return Err(no_value(definition, "row: return an object", &what));
    };
    for name in object.keys::<String>() {
        let name = name.map_err(failed)?;
        if !names.clone().any(|column| column == name) {
            let what = format!("an object with \"{name}\"");
            return Err(no_value(definition, "column of its rows", &what));
        }
    }
    names.map(|name| object.get(name).map_err(failed)).collect()
}

/// The text of a Uint8Array.
fn bytes<'js>(program: &Program<'_, 'js>, value: &Value<'js>) -> Result<String> {
    let typed = TypedArray::<u8>::from_value(value.clone()).ok();
    // SAFETY: no script runs while the bytes are borrowed, which is until they are copied.
    let bytes = typed.as_ref().and_then(|typed| unsafe { typed.as_bytes() }.map(<[u8]>::to_vec));
    let Some(bytes) = bytes else {
        return Err(no_value(program.definition(), SqlType::Bytea, &named(program, value)));
    };
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("\\x");
    bytes.iter().for_each(|byte| {
        let _ = write!(text, "{byte:02x}");
    });
    Ok(text)
}

/// The text of a Date.
fn moment<'js>(program: &Program<'_, 'js>, value: &Value<'js>, of: &SqlType) -> Result<String> {
    let date: Option<Value<'js>> = program.ctx.globals().get("Date").ok();
    let is_date = value.as_object().zip(date).is_some_and(|(of, date)| of.is_instance_of(date));
    if !is_date {
        return Err(no_value(program.definition(), of, &named(program, value)));
    }
    let text = program.ctx.json_stringify(value.clone());
    let text = text.map_err(|error| program.failed(&error))?;
    let text = text.and_then(|text| text.to_string().ok()).unwrap_or_default();
    match text.trim_matches('"') {
        "" | "null" => Err(no_value(program.definition(), of, "an invalid date")),
        text => Ok(text.to_owned()),
    }
}
